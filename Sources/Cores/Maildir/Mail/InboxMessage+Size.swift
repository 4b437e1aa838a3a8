internal import Coordination

extension InboxMessage {
    /// The bytes of all its texts: nearly its size in a store.
    var payloadByteCount: Int {
        let texts: [String] =
            switch content {
            case .text(let from, let to, let text): [from, to, text]
            case .invitation(let from, let subject, let localAddress): [from, subject, localAddress]
            case .tooLarge(let from, let to): [from, to]
            case .nothingToShow: []
            }
        return texts.reduce(callID.text.utf8.count) { $0 + $1.utf8.count }
    }

    /// The sender and the recipient; nil for a message without them.
    var people: MailRefusal.People? {
        switch content {
        case .text(let from, let to, _), .tooLarge(let from, let to): MailRefusal.People(from: from, to: to)
        case .invitation(let from, _, let localAddress): MailRefusal.People(from: from, to: localAddress)
        case .nothingToShow: nil
        }
    }
}
