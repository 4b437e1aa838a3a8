/// A running observation of a notification's name: an asynchronous sequence of deliveries.
///
/// Posts that come while nobody takes deliveries are counted together into the next one. An observation has one
/// consumer at a time. Letting go of the last reference cancels it.
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

        public mutating func next() async throws(SharedCoreError) -> NotificationDelivery? {
            try await observation.next()
        }

        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(SharedCoreError) -> NotificationDelivery? {
            try await observation.next()
        }
    }
}
