/// How many messages a queue holds.
public struct QueueCount: Hashable, Sendable {
    /// Those that can be taken.
    public let waiting: Int
    /// Those that a consumer has in hand.
    public let taken: Int

    /// All of them.
    public var total: Int { waiting + taken }
}
