internal import Coordination

extension InboxMessage {
    /// The bytes of all its texts: nearly what it takes in a store.
    var payloadByteCount: Int {
        let texts: [String] =
            switch content {
            case .text(let from, let to, let text): [from, to, text]
            case .invitation(let subject, let localAddress): [subject, localAddress]
            case .nothingToShow: []
            }
        return texts.reduce(callID.text.utf8.count) { $0 + $1.utf8.count }
    }
}
