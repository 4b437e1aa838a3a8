package import Coordination
internal import CoreAPI
package import ProgramOutput

/// What became of an Executor's call-id.
package struct ExecutorReport: Hashable, Sendable {
    /// The ways in which it ends.
    package enum Event: String, Hashable, Sendable {
        /// The message is there.
        case message
        /// It was received, and there is nothing to show.
        case nothing
        /// A Main owns, and the Executor was to run the core itself.
        case refused
        /// The deadline passed first.
        case timeout
        /// Ownership was taken away from the Executor that was to run the core itself.
        case fenced
    }

    package let event: Event
    package let callID: CallID
    /// The text to show; for an invitation to a chat room, its subject. Nil where there is none.
    package let text: String?
    /// Who sent it; for an invitation, the local address. Nil where there is no message.
    package let from: String?
    /// Where it came from; nil where nothing came.
    package let source: MessageAnswer.Source?
    /// How many cores this Executor has started.
    package let coreStarts: Int
    /// From the beginning to the answer.
    package let elapsed: Duration
    /// Why nothing came, for people.
    package let reason: String?

    /// The report as one JSON line: `event callID text from source coreStarts elapsedMs`.
    package var json: JSONObject {
        [
            "event": .text(event.rawValue), "callID": .text(callID.text), "text": .optional(text),
            "from": .optional(from), "source": .optional(source?.rawValue), "coreStarts": .integer(Int64(coreStarts)),
            "elapsedMs": .natural(elapsed.clampedNanoseconds / 1_000_000),
        ]
    }

    /// What the shell is told.
    package var status: ExitStatus {
        switch event {
        case .message, .nothing: .success
        case .refused, .timeout, .fenced: .no
        }
    }
}
