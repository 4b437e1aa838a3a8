package import Coordination
internal import CoreAPI
package import ProgramOutput

/// The outcome for an Executor's call-id.
package struct ExecutorReport: Hashable, Sendable {
    /// The outcomes of an Executor.
    package enum Event: String, Hashable, Sendable {
        /// The message is there.
        case message
        /// The message is too large for the inbox: only its sender can be shown.
        case tooLarge
        /// The id belongs to a call, open or ended: the text has its state.
        case call
        /// The message was received, and there is nothing to show.
        case nothing
        /// A Main owns, and the Executor was to run the core itself.
        case refused
        /// The deadline passed first.
        case timeout
        /// The ownership was taken away from an Executor that had to run the core itself.
        case fenced
    }

    package let event: Event
    package let callID: CallID
    /// The message; nil if none came, or a call came.
    package let message: InboxMessage?
    /// The call; nil if none came.
    package var call: Call?
    /// The source of the message; nil if none came.
    package let source: MessageResult.Source?
    /// How many cores this Executor has started.
    package let coreStarts: Int
    /// From the beginning to the answer.
    package let elapsed: Duration
    /// Why no message came, as text for users.
    package let reason: String?

    /// The text to show; for an invitation to a chat room, its subject; for a call, its state or the reason of its end.
    /// Nil if there is none, as usually for a message that is too large.
    package var text: String? {
        if let call { return call.state.word }
        guard let text = message?.content.text, event == .message || !text.isEmpty else { return nil }
        return text
    }
    /// The sender or the inviter, or the other party of a call. Nil if there is neither.
    package var from: String? {
        message?.content.sender ?? call.map { call in call.direction == .incoming ? call.from : call.to }
    }

    /// The report as one JSON line: `event callID from source coreStarts elapsedMs`, then `kind to` and the details
    /// that the message has, and `text`. The text, which may be long, comes last, except for a body: a reader that
    /// keeps only the beginning of the line has all other values.
    package var json: JSONObject {
        var object: JSONObject = [
            "event": .text(event.rawValue), "callID": .text(callID.text), "from": .optional(from),
            "source": .optional(source?.rawValue), "coreStarts": .integer(Int64(coreStarts)),
            "elapsedMs": .natural(elapsed.wholeMilliseconds),
        ]
        if let message { object.append(detailsOf: message) }
        object.append("text", .optional(text))
        if let message { object.append(bodyOf: message) }
        return object
    }

    /// The exit status.
    package var status: ExitStatus {
        switch event {
        case .message, .tooLarge, .call, .nothing: .success
        case .refused, .timeout, .fenced: .no
        }
    }
}

extension JSONObject {
    /// Adds the values of a message beside its sender and its text: `kind to`, and those of `sequence account
    /// conversation timeMs contentType fields` that it has.
    package mutating func append(detailsOf message: InboxMessage) {
        let content = message.content
        append("kind", .text(content.kind.name))
        append("to", .text(content.recipient))
        if let sequence = message.id.sequence { append("sequence", .text(sequence)) }
        if let account = content.account { append("account", .text(account)) }
        if let conversation = content.conversation { append("conversation", .text(conversation)) }
        if let time = content.time { append("timeMs", .integer(time.wholeMillisecondsSince1970)) }
        if let contentType = content.contentType { append("contentType", .text(contentType)) }
        guard !content.fields.isEmpty else { return }
        var fields: JSONObject = [:]
        for (name, value) in content.fields.sorted(by: { $0.key < $1.key }) { fields.append(name, .text(value)) }
        append("fields", .object(fields))
    }

    /// Adds the body of a message, Base64 (RFC 4648), if it has one.
    package mutating func append(bodyOf message: InboxMessage) {
        guard !message.content.body.isEmpty else { return }
        append("body", .text(Base64.encode(message.content.body)))
    }
}

extension Duration {
    /// Valid for the time of a message, which has a bound (C20): larger times would overflow.
    fileprivate var wholeMillisecondsSince1970: Int64 {
        components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000
    }
}
