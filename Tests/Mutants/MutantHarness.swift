internal import CoreAPI
internal import CoreAPITesting
internal import InMemoryBackend
internal import Platform

/// Tries the memory backend with a damage.
struct MutantHarness: ConformanceHarness {
    let name: String
    let damage: Damage

    func makeGroup(_ settings: GroupSettings) async throws -> any ConformanceGroup {
        if let fault = settings.fault, fault != .delay {
            throw HarnessLimitation("no server stands behind a group in memory")
        }
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
    let place: BatonPlace?

    init(space: MemorySpace, damage: Damage, limits: Limits) {
        self.space = space
        self.damage = damage
        self.limits = limits
        place = damage.baton.map(BatonPlace.init)
    }

    func open(
        _ description: SessionDescription, requiring requirements: Requirements
    ) async throws(SharedCoreError) -> any SharedGroup {
        var requirements = requirements
        if place != nil { requirements.features.remove(.batonBytes) }
        let inner = try await damage.open(space, description, requirements)
        LateUpdates.forget(inner)
        return MutantGroup(inner, damage: damage, limits: limits, place: place)
    }

    func openToRead(_ description: SessionDescription) async throws -> any SharedGroup {
        try await damage.openToRead(space, description)
    }

    func remove() async {}

    func simulateKill(of handle: any SharedGroup) throws { damage.kill(try inner(handle)) }
    func simulateStop(of handle: any SharedGroup) throws { damage.stop(try inner(handle)) }
    func simulateContinue(of handle: any SharedGroup) throws { try inner(handle).simulateContinue() }

    /// News in memory are never late; a damage may go on from what the handle had been told.
    func delay(_ handle: any SharedGroup, by time: Duration) async throws {
        try await LateUpdates.note(of: inner(handle), isBeginning: time > .zero)
    }

    private func inner(_ handle: any SharedGroup) throws -> MemoryGroup {
        guard let handle = handle as? MutantGroup else { throw HarnessLimitation("a handle of another backend") }
        return handle.inner
    }
}

/// The updates that handles had been told when their news began to be late, for damages that go on from there.
struct LateUpdates: Sendable {
    /// The content that the handle had been told.
    let told: Snapshot
    /// The revision when its news ceased to be late; nil until then.
    var end: Revision?

    private static let all = Box<[SessionID: LateUpdates]>([:])

    static func of(_ group: MemoryGroup) -> LateUpdates? { all.value[group.session.id] }

    /// Sessions of other groups have the same numbers.
    static func forget(_ group: MemoryGroup) { all.update { $0[group.session.id] = nil } }

    static func note(of group: MemoryGroup, isBeginning: Bool) async throws(SharedCoreError) {
        let present = try await group.list(.all)
        all.update { all in
            if isBeginning {
                all[group.session.id] = LateUpdates(told: present)
            } else {
                all[group.session.id]?.end = present.revision
            }
        }
    }
}

/// A handle with damaged calls.
private final class MutantGroup: SharedGroup {
    let inner: MemoryGroup
    let capabilities: Capabilities
    private let damage: Damage
    private let place: BatonPlace?

    /// Handles that are never let go of.
    private static let kept = Box<[MemoryGroup]>([])

    init(_ inner: MemoryGroup, damage: Damage, limits: Limits, place: BatonPlace?) {
        self.inner = inner
        self.damage = damage
        self.place = place
        let declared = inner.capabilities
        capabilities = Capabilities(
            backend: declared.backend,
            features: damage.features(declared.features).union(place == nil ? [] : [.batonBytes]),
            durability: declared.durability, limits: limits)
        if !damage.endsWhenLetGo { Self.kept.update { $0.append(inner) } }
    }

    var session: Session { damage.session(inner) }
    var lease: SessionLease? { damage.lease(inner) }

    func get(_ key: Key, consistency: ReadConsistency) async throws(SharedCoreError) -> Entry? {
        let entry = try await damage.get(inner, key, consistency)
        // An expired entry disappears without a commit.
        try? await place?.changed(inner)
        return entry
    }

    func list(_ prefix: KeyPrefix, consistency: ReadConsistency) async throws(SharedCoreError) -> Snapshot {
        try await damage.list(inner, prefix, consistency)
    }

    func commit(_ transaction: Transaction) async throws(SharedCoreError) -> Commit {
        let commit = try await damage.commit(inner, transaction)
        // The commit has succeeded, also if the handle is closed before this check.
        try? await place?.changed(inner)
        return commit
    }

    func watch(_ prefixes: [KeyPrefix], from start: WatchStart) async throws(SharedCoreError) -> Watch {
        try await damage.watch(inner, prefixes, start)
    }

    func sync() async throws(SharedCoreError) { try await damage.sync(inner) }
    func sessions() async throws(SharedCoreError) -> [Session] { try await damage.sessions(inner) }

    func close() async {
        try? await place?.closes(inner)
        await damage.close(inner)
    }

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

extension MutantGroup: BatonDepositing {
    func keepBaton(_ bytes: [UInt8], of epoch: Revision, for lifetime: Duration) async throws(SharedCoreError) {
        guard let place else { throw SharedCoreError(.unsupported, "It keeps no batons.", at: "baton") }
        try await place.keep(bytes, of: epoch, for: lifetime, by: inner)
    }

    func fetchBaton(of epoch: Revision, under own: Revision) async throws(SharedCoreError) -> [UInt8]? {
        guard let place else { throw SharedCoreError(.unsupported, "It keeps no batons.", at: "baton") }
        return try await place.fetch(of: epoch, under: own, by: inner)
    }
}
