internal import CoreAPI
internal import CoreAPITesting
internal import InMemoryBackend
internal import Platform

/// Tries the memory backend with a damage.
struct MutantHarness: ConformanceHarness {
    let name: String
    let damage: Damage

    func makeGroup(_ settings: GroupSettings) async throws -> any ConformanceGroup {
        let space =
            damage.space
            ?? MemorySpace(
                clock: settings.clock ?? SystemClock(), limits: damage.accepts(settings.limits ?? Limits()),
                historyByteCount: settings.historyByteCount ?? 1 << 20)
        return MutantTestGroup(space: space, damage: damage, limits: settings.limits ?? Limits())
    }
}

private struct MutantTestGroup: ConformanceGroup {
    let space: MemorySpace
    let damage: Damage
    let limits: Limits

    func open(
        _ description: SessionDescription, requiring requirements: Requirements
    ) async throws(SharedCoreError) -> any SharedGroup {
        MutantGroup(try await damage.open(space, description, requirements), damage: damage, limits: limits)
    }

    func openToRead(_ description: SessionDescription) async throws -> any SharedGroup {
        try await damage.openToRead(space, description)
    }

    func remove() async {}

    func simulateKill(of handle: any SharedGroup) throws { damage.kill(try inner(handle)) }
    func simulateStop(of handle: any SharedGroup) throws { damage.stop(try inner(handle)) }
    func simulateContinue(of handle: any SharedGroup) throws { try inner(handle).simulateContinue() }

    private func inner(_ handle: any SharedGroup) throws -> MemoryGroup {
        guard let handle = handle as? MutantGroup else { throw HarnessLimitation("a handle of another backend") }
        return handle.inner
    }
}

/// A handle with damaged calls.
private final class MutantGroup: SharedGroup {
    let inner: MemoryGroup
    let capabilities: Capabilities
    private let damage: Damage

    /// Handles that are never let go of.
    private static let kept = Box<[MemoryGroup]>([])

    init(_ inner: MemoryGroup, damage: Damage, limits: Limits) {
        self.inner = inner
        self.damage = damage
        let declared = inner.capabilities
        capabilities = Capabilities(
            backend: declared.backend, features: damage.features(declared.features), durability: declared.durability,
            limits: limits)
        if !damage.endsWhenLetGo { Self.kept.update { $0.append(inner) } }
    }

    var session: Session { damage.session(inner) }
    var lease: SessionLease? { damage.lease(inner) }

    func get(_ key: Key, consistency: ReadConsistency) async throws(SharedCoreError) -> Entry? {
        try await damage.get(inner, key, consistency)
    }

    func list(_ prefix: KeyPrefix, consistency: ReadConsistency) async throws(SharedCoreError) -> Snapshot {
        try await damage.list(inner, prefix, consistency)
    }

    func commit(_ transaction: Transaction) async throws(SharedCoreError) -> Commit {
        try await damage.commit(inner, transaction)
    }

    func watch(_ prefixes: [KeyPrefix], from start: WatchStart) async throws(SharedCoreError) -> Watch {
        try await damage.watch(inner, prefixes, start)
    }

    func sync() async throws(SharedCoreError) { try await damage.sync(inner) }
    func sessions() async throws(SharedCoreError) -> [Session] { try await damage.sessions(inner) }
    func close() async { await damage.close(inner) }

    func post(_ name: NotificationName, state: UInt64?) async throws(SharedCoreError) -> Revision {
        try await damage.post(inner, name, state)
    }

    func observe(_ name: NotificationName) async throws(SharedCoreError) -> Observation {
        try await damage.observe(inner, name)
    }

    func state(of name: NotificationName) async throws(SharedCoreError) -> NotificationState {
        try await damage.state(inner, name)
    }
}
