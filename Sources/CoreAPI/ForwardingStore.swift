/// A store that forwards each call to another store by default. A conforming type implements only the calls that it
/// changes. ``SharedStore/sessions(among:)`` asks ``SharedStore/sessions()`` of the conforming type, so that a change of
/// that one call holds for both.
package protocol ForwardingStore: SharedStore, BatonDepositing {
    var inner: any SharedStore { get }
}

extension ForwardingStore {
    package var session: Session { inner.session }
    package var capabilities: Capabilities { inner.capabilities }
    package var deliveryExecutor: (any TaskExecutor)? { inner.deliveryExecutor }
    package var lease: SessionLease? { inner.lease }
    package var residentValueByteCount: Int? { inner.residentValueByteCount }

    package func get(_ key: Key, consistency: ReadConsistency) async throws(SharedCoreError) -> Entry? {
        try await inner.get(key, consistency: consistency)
    }

    package func list(_ prefix: KeyPrefix, consistency: ReadConsistency) async throws(SharedCoreError) -> Snapshot {
        try await inner.list(prefix, consistency: consistency)
    }

    package func commit(_ transaction: Transaction) async throws(SharedCoreError) -> Commit {
        try await inner.commit(transaction)
    }

    package func watch(_ prefixes: [KeyPrefix], from start: WatchStart) async throws(SharedCoreError) -> Watch {
        try await inner.watch(prefixes, from: start)
    }

    package func sync() async throws(SharedCoreError) { try await inner.sync() }
    package func sessions() async throws(SharedCoreError) -> [Session] { try await inner.sessions() }
    package func usage() async throws(SharedCoreError) -> StoreUsage? { try await inner.usage() }
    package func close() async { await inner.close() }

    package func keepBaton(
        _ bytes: [UInt8], of epoch: Revision, for lifetime: Duration
    ) async throws(SharedCoreError) {
        try await depositing().keepBaton(bytes, of: epoch, for: lifetime)
    }

    package func fetchBaton(of epoch: Revision, under own: Revision) async throws(SharedCoreError) -> [UInt8]? {
        try await depositing().fetchBaton(of: epoch, under: own)
    }

    private func depositing() throws(SharedCoreError) -> any BatonDepositing {
        guard let depositing = inner as? any BatonDepositing else {
            throw SharedCoreError(.unsupported, "The group cannot carry a baton to another machine.", at: "baton")
        }
        return depositing
    }
}

/// A group that forwards each call to another group by default, as ``ForwardingStore`` does for a store.
package protocol ForwardingGroup: ForwardingStore, CrossProcessNotifier {
    var group: any SharedGroup { get }
}

extension ForwardingGroup {
    package var inner: any SharedStore { group }

    package func post(_ name: NotificationName, state: UInt64?) async throws(SharedCoreError) -> Revision {
        try await group.post(name, state: state)
    }

    package func observe(_ name: NotificationName) async throws(SharedCoreError) -> Observation {
        try await group.observe(name)
    }

    package func state(of name: NotificationName) async throws(SharedCoreError) -> NotificationState {
        try await group.state(of: name)
    }
}
