/// The posts of a notification's name, as an asynchronous sequence of deliveries.
///
/// Posts that come while the consumer takes no delivery are merged into the next one. An observation has one consumer
/// at a time. Releasing the last reference cancels it.
///
/// Source: contract N2-N4, N8.
public final class Observation: AsyncSequence, Sendable {
    public typealias Element = NotificationDelivery
    public typealias Failure = SharedCoreError

    private let produce: @Sendable () async throws(SharedCoreError) -> NotificationDelivery?
    private let stop: @Sendable () -> Void

    /// Makes an observation for a notifier.
    ///
    /// - Parameters:
    ///   - next: Waits for the next delivery. Returns nil after `cancel`, after the notifier was closed, and promptly
    ///     when the waiting task is cancelled.
    ///   - cancel: Frees everything that the observation holds. May be called more than once and from anywhere.
    public init(
        next: @escaping @Sendable () async throws(SharedCoreError) -> NotificationDelivery?,
        cancel: @escaping @Sendable () -> Void
    ) {
        self.produce = next
        self.stop = cancel
    }

    deinit {
        stop()
    }

    /// Ends the sequence at once. Idempotent.
    public func cancel() {
        stop()
    }

    /// Waits for the next delivery; nil after the end.
    public nonisolated(nonsending) func next() async throws(SharedCoreError) -> NotificationDelivery? {
        try await produce()
    }

    public func makeAsyncIterator() -> Iterator {
        Iterator(observation: self)
    }

    /// Takes deliveries from the observation that made it.
    public struct Iterator: AsyncIteratorProtocol {
        let observation: Observation

        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(SharedCoreError) -> NotificationDelivery? {
            try await observation.next()
        }
    }
}

/// One delivery to an observer.
///
/// A delivery may represent several posts: the numbers of all deliveries add up to the number of posts, and the last
/// delivery carries the last state.
///
/// Source: contract N3, N4.
public struct NotificationDelivery: Hashable, Sendable {
    /// The name that was posted.
    public let name: NotificationName
    /// The state word after the last of the posts.
    public let state: UInt64
    /// The number of posts that this delivery represents; at least 1.
    public let count: UInt64
    /// The commit of the last of these posts. Every commit before it is readable.
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
