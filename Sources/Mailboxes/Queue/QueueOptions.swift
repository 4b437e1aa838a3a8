public import CoreAPI

/// How a queue keeps its messages. All who use one queue should use the same.
public struct QueueOptions: Hashable, Sendable {
    /// What a send does when the queue is full.
    public enum Overflow: Hashable, Sendable {
        /// It is refused with ``SharedCoreError/Code/limitExceeded``.
        case refuse
        /// The oldest messages make room, those that nobody has in hand first. The receipt names them.
        case dropOldest
    }

    /// The most messages that are kept, those in hand counted; nil for no bound but the store's.
    public var capacity: Int?
    /// What a send does when the queue is full.
    public var overflow: Overflow
    /// How long a message is kept when nobody acknowledges it.
    public var lifetime: Lifetime
    /// How long an acknowledged message's name is remembered, so that the same one is not accepted again; nil for not
    /// at all.
    public var markLifetime: Duration?

    public init(
        capacity: Int? = nil, overflow: Overflow = .refuse, lifetime: Lifetime = .persistent,
        markLifetime: Duration? = nil
    ) {
        self.capacity = capacity
        self.overflow = overflow
        self.lifetime = lifetime
        self.markLifetime = markLifetime
    }
}
