internal import CoreAPI

/// A handle that something befalls when it is watched or looked at.
final class TroubledGroup: SharedGroup {
    typealias WatchBody = @Sendable (any SharedGroup, [KeyPrefix], WatchStart) async throws(SharedCoreError) -> Watch

    private let group: any SharedGroup
    private let watching: WatchBody
    private let looked: @Sendable (KeyPrefix) async throws(SharedCoreError) -> Void

    /// - Parameters:
    ///   - watching: What a watch is.
    ///   - looked: What happens after a look under a prefix, before its answer is known.
    init(
        _ group: any SharedGroup,
        watching: @escaping WatchBody = { group, prefixes, start throws(SharedCoreError) in
            try await group.watch(prefixes, from: start)
        },
        looked: @escaping @Sendable (KeyPrefix) async throws(SharedCoreError) -> Void = { _ in }
    ) {
        self.group = group
        self.watching = watching
        self.looked = looked
    }

    var session: Session { group.session }
    var capabilities: Capabilities { group.capabilities }

    func watch(_ prefixes: [KeyPrefix], from start: WatchStart) async throws(SharedCoreError) -> Watch {
        try await watching(group, prefixes, start)
    }

    func list(_ prefix: KeyPrefix, consistency: ReadConsistency) async throws(SharedCoreError) -> Snapshot {
        let snapshot = try await group.list(prefix, consistency: consistency)
        try await looked(prefix)
        return snapshot
    }

    func get(_ key: Key, consistency: ReadConsistency) async throws(SharedCoreError) -> Entry? {
        try await group.get(key, consistency: consistency)
    }

    func commit(_ transaction: Transaction) async throws(SharedCoreError) -> Commit {
        try await group.commit(transaction)
    }

    func sync() async throws(SharedCoreError) { try await group.sync() }
    func sessions() async throws(SharedCoreError) -> [Session] { try await group.sessions() }
    func close() async { await group.close() }

    func post(_ name: NotificationName, state: UInt64?) async throws(SharedCoreError) -> Revision {
        try await group.post(name, state: state)
    }

    func observe(_ name: NotificationName) async throws(SharedCoreError) -> Observation {
        try await group.observe(name)
    }

    func state(of name: NotificationName) async throws(SharedCoreError) -> NotificationState {
        try await group.state(of: name)
    }
}
