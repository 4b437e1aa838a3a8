public import CoreAPI

/// A message in a consumer's hand. It is nobody else's until it is acknowledged, given back, or the consumer's session
/// ends.
public struct QueueDelivery: Hashable, Sendable {
    /// The name of the message.
    public let item: ItemName
    /// The message.
    public let bytes: [UInt8]
    /// The commit that stored it.
    public let sentAt: Revision
    /// The session that sent it.
    public let sender: SessionID
    /// The epoch of the take: an acknowledgement counts only while this take stands.
    public let epoch: Revision

    /// The delivery of a message whose take was committed as `epoch`.
    package init(of message: Entry, item: ItemName, epoch: Revision) {
        self.item = item
        self.bytes = message.value
        self.sentAt = message.creationRevision
        self.sender = message.origin
        self.epoch = epoch
    }
}
