public import CoreAPI

/// The application states that the sessions of a group have published, at one revision.
public struct ApplicationOverview: Hashable, Sendable {
    /// The overview includes everything up to this revision.
    public let revision: Revision
    /// The reports, ordered by session, without those that this version does not understand.
    public let applications: [ApplicationReport]

    /// True if any application is in the foreground, so that no alert is needed.
    public var isAnyInForeground: Bool { applications.contains { $0.state == .foreground } }

    /// Returns the state that a session has published; nil if it has published none.
    public subscript(session: SessionID) -> ApplicationState? {
        applications.first { $0.session == session }?.state
    }

    /// Makes an overview of the published states.
    ///
    /// If another session published the state of an application, the entry does not end with the application's session.
    /// Such an entry is omitted here after that session has ended.
    init(
        revision: Revision, entries: some Sequence<Entry>, in store: any SharedStore
    ) async throws(SharedCoreError) {
        let statements = entries.compactMap(ApplicationReport.init)
        var applications = statements.filter { $0.isOwn }
        if applications.count < statements.count {
            let sessions = Set(try await store.sessions().map(\.id))
            applications = statements.filter { $0.isOwn || sessions.contains($0.session) }
        }
        self.revision = revision
        self.applications = applications.sorted { $0.session < $1.session }
    }
}

/// The published states of all applications, now and after every change.
///
/// It has one consumer at a time, like the ``Watch`` on which it is based. Releasing it ends it.
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

        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(SharedCoreError) -> ApplicationOverview? {
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
    }
}
