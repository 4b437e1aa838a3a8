internal import Mailboxes
internal import Wormholes

/// What somebody has said.
struct ChatLine: Codable, Sendable {
    var name: String
    var text: String
}

extension QueueID where Message == ChatLine {
    /// The last hundred lines. Nobody takes any: all listen, and whoever comes later is told them first.
    static let chat = QueueID("chat", options: QueueOptions(capacity: 100, overflow: .dropOldest))
}
