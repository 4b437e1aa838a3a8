internal import CoreAPI
internal import InMemoryBackend

/// A reader that reads each entry of a list by itself, with others in between.
final class TornReader: SharedGroup {
    private let inner: any SharedGroup
    private let space: MemorySpace
    private static let mostAttempts = 1_000

    init(_ inner: any SharedGroup, in space: MemorySpace) {
        self.inner = inner
        self.space = space
    }

    var session: Session { inner.session }
    var capabilities: Capabilities { inner.capabilities }

    func get(_ key: Key, consistency: ReadConsistency) async throws(SharedCoreError) -> Entry? {
        try await inner.get(key, consistency: consistency)
    }

    func list(_ prefix: KeyPrefix, consistency: ReadConsistency) async throws(SharedCoreError) -> Snapshot {
        let whole = try await inner.list(prefix, consistency: consistency)
        var entries: [Entry] = []
        for (index, entry) in whole.entries.enumerated() {
            var later = try await space.openToRead("group")
            // A commit comes in between where others commit, however busy the machine is.
            var attempts = index == 1 ? Self.mostAttempts : 0
            while attempts > 0, try await later.list("none").revision == whole.revision {
                attempts -= 1
                await Task.yield()
                later = try await space.openToRead("group")
            }
            if let entry = try await later.get(entry.key) { entries.append(entry) }
        }
        return Snapshot(revision: whole.revision, entries: entries)
    }

    func commit(_ transaction: Transaction) async throws(SharedCoreError) -> Commit {
        try await inner.commit(transaction)
    }

    func watch(_ prefixes: [KeyPrefix], from start: WatchStart) async throws(SharedCoreError) -> Watch {
        try await inner.watch(prefixes, from: start)
    }

    func sync() async throws(SharedCoreError) { try await inner.sync() }
    func sessions() async throws(SharedCoreError) -> [Session] { try await inner.sessions() }
    func close() async { await inner.close() }

    func post(_ name: NotificationName, state: UInt64?) async throws(SharedCoreError) -> Revision {
        try await inner.post(name, state: state)
    }

    func observe(_ name: NotificationName) async throws(SharedCoreError) -> Observation {
        try await inner.observe(name)
    }

    func state(of name: NotificationName) async throws(SharedCoreError) -> NotificationState {
        try await inner.state(of: name)
    }
}
