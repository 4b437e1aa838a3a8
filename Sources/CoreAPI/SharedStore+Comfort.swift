extension SharedStore {
    /// The entry under a key, with every commit reflected that had returned before.
    public func get(_ key: Key) async throws(SharedCoreError) -> Entry? {
        try await get(key, consistency: .linearizable)
    }

    /// The entries that a prefix selects, with every commit reflected that had returned before.
    public func list(_ prefix: KeyPrefix = .all) async throws(SharedCoreError) -> Snapshot {
        try await list(prefix, consistency: .linearizable)
    }

    /// Sets the value of a key.
    @discardableResult
    public func put(
        _ key: Key, _ value: [UInt8], lifetime: Lifetime = .persistent
    ) async throws(SharedCoreError) -> Commit {
        try await commit(Transaction(operations: [.put(key, value, lifetime)]))
    }

    /// Sets the value of a key when a condition holds.
    @discardableResult
    public func put(
        _ key: Key, _ value: [UInt8], lifetime: Lifetime = .persistent, if condition: Transaction.Guard
    ) async throws(SharedCoreError) -> Commit {
        try await commit(Transaction(guards: [condition], operations: [.put(key, value, lifetime)]))
    }

    /// Removes a key; an absent one is no error and changes nothing.
    @discardableResult
    public func delete(_ key: Key) async throws(SharedCoreError) -> Commit {
        try await commit(Transaction(operations: [.delete(key)]))
    }

    /// Begins to deliver what a prefix selects: a snapshot first, then every change.
    public func watch(
        _ prefix: KeyPrefix = .all, from start: WatchStart = .snapshot
    ) async throws(SharedCoreError) -> Watch {
        try await watch([prefix], from: start)
    }
}
