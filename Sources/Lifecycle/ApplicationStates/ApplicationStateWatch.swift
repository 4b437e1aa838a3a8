public import CoreAPI

/// What everybody has said about their application, now and after every change.
///
/// One consumer at a time, like the ``Watch`` that it stands on. Letting go of it ends it.
public struct ApplicationStateWatch: AsyncSequence, Sendable {
    public typealias Element = ApplicationOverview
    public typealias Failure = SharedCoreError

    private let watch: Watch
    private let store: any SharedStore

    init(_ watch: Watch, in store: any SharedStore) {
        self.watch = watch
        self.store = store
    }

    /// Ends the sequence. Idempotent.
    public func cancel() {
        watch.cancel()
    }

    public func makeAsyncIterator() -> Iterator {
        Iterator(watch: watch, store: store)
    }

    /// Takes overviews.
    public struct Iterator: AsyncIteratorProtocol {
        private let watch: Watch
        private let store: any SharedStore
        private var entries: [Key: Entry] = [:]

        init(watch: Watch, store: any SharedStore) {
            self.watch = watch
            self.store = store
        }

        public mutating func next() async throws(SharedCoreError) -> ApplicationOverview? {
            guard let event = try await watch.next() else { return nil }
            switch event {
            case .snapshot(let snapshot), .lagged(let snapshot):
                entries = [:]
                for entry in snapshot.entries { entries[entry.key] = entry }
            case .changes(let set):
                for change in set.changes { entries[change.key] = change.new }
            }
            return try await ApplicationOverview(revision: event.revision, entries: entries.values, in: store)
        }

        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(SharedCoreError) -> ApplicationOverview? {
            try await next()
        }
    }
}
