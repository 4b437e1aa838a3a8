public import CoreAPI

/// A timeline as it grows: an asynchronous sequence of its entries in their order, each once.
///
/// One consumer at a time. It ends as a ``Watch`` does.
public final class TimelineFollower: AsyncSequence, Sendable {
    public typealias Element = TimelineEvent
    public typealias Failure = SharedCoreError

    private let watch: Watch

    init(_ watch: Watch) {
        self.watch = watch
    }

    /// Ends the sequence. Idempotent.
    public func cancel() {
        watch.cancel()
    }

    public func makeAsyncIterator() -> Iterator {
        Iterator(watch)
    }

    /// Takes entries one by one.
    public struct Iterator: AsyncIteratorProtocol {
        private let watch: Watch
        private var reading = TimelineReading()

        init(_ watch: Watch) {
            self.watch = watch
        }

        public mutating func next() async throws(SharedCoreError) -> TimelineEvent? {
            try await take()
        }

        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(SharedCoreError) -> TimelineEvent? {
            try await take()
        }

        private nonisolated(nonsending) mutating func take() async throws(SharedCoreError) -> TimelineEvent? {
            while true {
                if let event = reading.next() { return event }
                guard let event = try await watch.next() else { return nil }
                reading.add(event)
            }
        }
    }
}
