/// One wake of an observer.
///
/// A delivery may stand for several posts: the numbers of all deliveries add up to the number of posts, and the last
/// delivery carries the last state.
///
/// Source: contract N3, N4.
public struct NotificationDelivery: Hashable, Sendable {
    /// The name that was posted.
    public let name: NotificationName
    /// The state word after the last of the posts.
    public let state: UInt64
    /// How many posts this delivery stands for; at least 1.
    public let count: UInt64
    /// The commit of the last of the posts. What was committed before it is readable.
    public let revision: Revision
    /// The session that made the last of the posts.
    public let origin: SessionID

    public init(name: NotificationName, state: UInt64, count: UInt64, revision: Revision, origin: SessionID) {
        self.name = name
        self.state = state
        self.count = count
        self.revision = revision
        self.origin = origin
    }
}
