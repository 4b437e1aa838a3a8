public import CoreAPI

/// That a message is in its queue.
public struct SendReceipt: Hashable, Sendable {
    /// The name under which it is kept.
    public let item: ItemName
    /// The commit that stored it.
    public let revision: Revision
    /// The messages that had to make room for it.
    public let dropped: [ItemName]

    package init(item: ItemName, revision: Revision, dropped: [ItemName]) {
        self.item = item
        self.revision = revision
        self.dropped = dropped
    }
}
