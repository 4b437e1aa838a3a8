internal import Mailboxes
internal import Wormholes

/// One line of a participant.
struct ChatLine: Codable, Sendable {
    var name: String
    var text: String
}

extension QueueID where Message == ChatLine {
    /// The last hundred lines. No participant takes any: all listen, and a participant that comes later is told them
    /// first.
    static let chat = QueueID("chat", options: QueueOptions(capacity: 100, overflow: .dropOldest))
}
