import Coordination
import Testing

extension InboxMessage {
    /// A text message with a call-id.
    static func text(_ callID: String, _ text: String = "hello") throws -> InboxMessage {
        InboxMessage(
            callID: try CallID.of(callID),
            content: .text(from: "sip:a@example.org", to: "sip:b@example.org", text: text))
    }
}

extension CallID {
    static func of(_ text: String) throws -> CallID {
        try #require(CallID(text))
    }
}

extension MessageAnswer {
    /// The message, where there is one.
    var message: InboxMessage? {
        if case .message(let taken) = content { taken.message } else { nil }
    }

    var taken: TakenMessage? {
        if case .message(let taken) = content { taken } else { nil }
    }
}
