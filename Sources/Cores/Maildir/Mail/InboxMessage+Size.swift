internal import Coordination

extension InboxMessage {
    /// The bytes of all its texts that have no bound of their own: nearly its size in a store.
    var payloadByteCount: Int {
        [content.sender, content.recipient, content.text].reduce(callID.text.utf8.count) { $0 + $1.utf8.count }
    }

    /// The sender, the recipient and the time; nil for a message without them.
    var people: MailRefusal.People? {
        content.kind == .nothing
            ? nil : MailRefusal.People(from: content.sender, to: content.recipient, time: content.time)
    }
}
