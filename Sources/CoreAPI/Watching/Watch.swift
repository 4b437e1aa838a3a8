/// A running observation of keys: an asynchronous sequence of snapshots and changes.
///
/// A watch is a position in the order of commits, not a queue: a consumer that falls behind costs no memory beyond the
/// store's history window, and never slows a writer. It has one consumer at a time; open another watch for another
/// consumer. It ends when cancelled, when the store is closed (the sequence ends) or when the session ends (it throws).
/// Letting go of the last reference cancels it.
///
/// Source: contract W1-W4.
public final class Watch: AsyncSequence, Sendable {
    public typealias Element = WatchEvent
    public typealias Failure = SharedCoreError

    private let produce: @Sendable () async throws(SharedCoreError) -> WatchEvent?
    private let stop: @Sendable () -> Void

    /// Makes a watch for a store.
    ///
    /// - Parameters:
    ///   - next: Waits for the next event. Returns nil after `cancel`, after the store was closed, and promptly when
    ///     the waiting task is cancelled.
    ///   - cancel: Frees everything that the watch holds. May be called more than once and from anywhere.
    public init(
        next: @escaping @Sendable () async throws(SharedCoreError) -> WatchEvent?,
        cancel: @escaping @Sendable () -> Void
    ) {
        self.produce = next
        self.stop = cancel
    }

    deinit {
        stop()
    }

    /// Ends the sequence at once and frees what it holds. Idempotent.
    public func cancel() {
        stop()
    }

    /// Waits for the next event; nil after the end.
    public nonisolated(nonsending) func next() async throws(SharedCoreError) -> WatchEvent? {
        try await produce()
    }

    public func makeAsyncIterator() -> Iterator {
        Iterator(watch: self)
    }

    /// Takes events from the watch that made it.
    public struct Iterator: AsyncIteratorProtocol {
        let watch: Watch

        public mutating func next() async throws(SharedCoreError) -> WatchEvent? {
            try await watch.next()
        }

        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(SharedCoreError) -> WatchEvent? {
            try await watch.next()
        }
    }
}
