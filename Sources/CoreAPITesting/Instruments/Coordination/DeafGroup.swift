internal import CoreAPI

/// A handle that no wake-up reaches: its watches give what stands when they begin, and never any news.
final class DeafGroup: SharedGroup {
    private let group: any SharedGroup

    init(_ group: any SharedGroup) {
        self.group = group
    }

    var session: Session { group.session }
    var capabilities: Capabilities { group.capabilities }

    func watch(_ prefixes: [KeyPrefix], from start: WatchStart) async throws(SharedCoreError) -> Watch {
        let inner = try await group.watch(prefixes, from: start)
        let isFirst = Box(start == .snapshot)
        return Watch(
            next: { () async throws(SharedCoreError) -> WatchEvent? in
                while let event = try await inner.next() {
                    if isFirst.update({ isFirst in
                        defer { isFirst = false }; return isFirst
                    }) {
                        return event
                    }
                }
                return nil
            },
            cancel: { inner.cancel() })
    }

    func get(_ key: Key, consistency: ReadConsistency) async throws(SharedCoreError) -> Entry? {
        try await group.get(key, consistency: consistency)
    }

    func list(_ prefix: KeyPrefix, consistency: ReadConsistency) async throws(SharedCoreError) -> Snapshot {
        try await group.list(prefix, consistency: consistency)
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
