package import Coordination
internal import CoreAPI
package import ProgramOutput

/// The outcome for an Executor's call-id.
package struct ExecutorReport: Hashable, Sendable {
    /// The ways in which it ends.
    package enum Event: String, Hashable, Sendable {
        /// The message is there.
        case message
        /// There is a message that is too large for the inbox: its sender can be shown, and nothing else.
        case tooLarge
        /// The id is that of a call, open or ended: the text says how far it is.
        case call
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
    /// The text to show; for an invitation to a chat room, its subject; for a call, its state or the reason of its end. Nil where there is none.
    package let text: String?
    /// The sender or the inviter. Nil where there is no message.
    package let from: String?
    /// The source of the message; nil where nothing came.
    package let source: MessageResult.Source?
    /// How many cores this Executor has started.
    package let coreStarts: Int
    /// From the beginning to the answer.
    package let elapsed: Duration
    /// Why nothing came, for people.
    package let reason: String?

    /// The report as one JSON line: `event callID from source coreStarts elapsedMs text`. The text, which may be long, comes
    /// last: a reader that keeps only a part of the line has all the rest.
    package var json: JSONObject {
        [
            "event": .text(event.rawValue), "callID": .text(callID.text), "from": .optional(from),
            "source": .optional(source?.rawValue), "coreStarts": .integer(Int64(coreStarts)),
            "elapsedMs": .natural(elapsed.wholeMilliseconds), "text": .optional(text),
        ]
    }

    /// The exit status.
    package var status: ExitStatus {
        switch event {
        case .message, .tooLarge, .call, .nothing: .success
        case .refused, .timeout, .fenced: .no
        }
    }
}
