import CoreAPI

/// A store that adds a condition to every transaction, as the one that a core is given does.
struct GuardedStore: SharedStore {
    private let inner: any SharedStore
    private let condition: Transaction.Guard

    init(_ inner: any SharedStore, by condition: Transaction.Guard) {
        self.inner = inner
        self.condition = condition
    }

    var session: Session { inner.session }
    var capabilities: Capabilities { inner.capabilities }

    func get(_ key: Key, consistency: ReadConsistency) async throws(SharedCoreError) -> Entry? {
        try await inner.get(key, consistency: consistency)
    }

    func list(_ prefix: KeyPrefix, consistency: ReadConsistency) async throws(SharedCoreError) -> Snapshot {
        try await inner.list(prefix, consistency: consistency)
    }

    func commit(_ transaction: Transaction) async throws(SharedCoreError) -> Commit {
        var guarded = transaction
        guarded.guards.insert(condition, at: 0)
        return try await inner.commit(guarded)
    }

    func watch(_ prefixes: [KeyPrefix], from start: WatchStart) async throws(SharedCoreError) -> Watch {
        try await inner.watch(prefixes, from: start)
    }

    func sync() async throws(SharedCoreError) { try await inner.sync() }
    func sessions() async throws(SharedCoreError) -> [Session] { try await inner.sessions() }
    func close() async { await inner.close() }
}
