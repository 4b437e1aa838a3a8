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

    /// Waits until what this handle has read is as durable as the group promises, up to a revision: also what others wrote.
    ///
    /// The answer to a commit waits for that by itself, a read does not. Call this before a conclusion from a read leaves the
    /// group, as when a message is found stored and its sender is told to forget it.
    ///
    /// ```swift
    /// guard let entry = try await group.get("inbox/17") else { return }
    /// try await group.settled(through: entry.revision)
    /// server.acknowledge(17)
    /// ```
    ///
    /// - Throws: What ``commit(_:)`` throws: ``SharedCoreError/Code/outcomeUnknown`` and ``SharedCoreError/Code/unavailable``
    ///   where the disk does not confirm it; ``SharedCoreError/Code/invalidArgument`` for a revision that is not there yet.
    ///
    /// Source: contract S10.
    public func settled(through revision: Revision) async throws(SharedCoreError) {
        guard capabilities.durability == .disk else { return }
        // An answer waits for all that stands before it.
        let last = try await commit(Transaction()).revision
        guard last >= revision else {
            throw SharedCoreError(
                .invalidArgument, "Revision \(revision) is not there: the group stands at \(last).", at: "settled")
        }
    }

    /// Begins to deliver what a prefix selects: a snapshot first, then every change.
    public func watch(
        _ prefix: KeyPrefix = .all, from start: WatchStart = .snapshot
    ) async throws(SharedCoreError) -> Watch {
        try await watch([prefix], from: start)
    }
}
