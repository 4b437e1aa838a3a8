import CoreAPI
import CoreAPITesting
import InMemoryBackend
import Platform
import TestSupport
import Testing

@testable import Coordination

/// The work that a participant does before its first request.
struct PreparationTests {
    enum Call: CaseIterable {
        case watch, sessions
    }

    enum End: CaseIterable {
        case close, letGo
    }

    private let space = MemorySpace()

    /// Puts an owner into the group.
    private func own(_ role: SessionRole) async throws -> MemoryGroup {
        let group = try await space.open("group", as: SessionDescription(role: role, name: "owner"))
        let record = OwnerRecord(
            role: role, state: .running, name: "owner", process: group.session.process, since: SystemClock().now())
        try await group.put(OwnershipKey.owner, record.bytes, lifetime: .session)
        return group
    }

    private func store(
        _ role: SessionRole = .main, isDeaf: Bool = false,
        before: @escaping @Sendable (Call, [KeyPrefix]) async throws(SharedCoreError) -> Void
    ) async throws -> HookedStore {
        HookedStore(try await space.open("group", as: SessionDescription(role: role)), isDeaf: isDeaf, before: before)
    }

    private func participant(_ store: HookedStore) throws -> Participant {
        try Participant(
            store, core: { ScriptedCore.idle(in: World()) }, options: .patient, environment: CoordinationEnvironment())
    }

    /// Prepares a participant, and returns when the preparation is over.
    private func prepare(_ participant: Participant) async throws {
        participant.prepare()
        try await eventually("it prepares itself") { await participant.preparation != nil }
        let preparation = try #require(await participant.preparation)
        try await withTimeout(TestTimeout.usual, "it has prepared itself") { await preparation.value }
    }

    @Test("what is on its way for one that ends is given up", arguments: Call.allCases, End.allCases)
    func ends(in call: Call, by end: End) async throws {
        let owner = try await own(.executor)
        let (entries, cancellations) = (Box(0), Box(0))
        let clock = ManualClock()
        let store = try await store { made, _ throws(SharedCoreError) in
            guard made == call else { return }
            entries.update { $0 += 1 }
            do { try await clock.sleep(until: BootInstant(nanoseconds: .max)) } catch {
                cancellations.update { $0 += 1 }
                throw SharedCoreError(.cancelled, "Given up.", at: "test")
            }
        }
        var main: MainParticipant? = try MainParticipant(of: store, options: .patient) {
            ScriptedCore.idle(in: World())
        }
        try await eventually("the call is on its way") { entries.value == 1 }

        if end == .close { await main?.stop() }
        withExtendedLifetime(main) {}
        main = nil

        try await eventually("it is given up") { cancellations.value == 1 }
        #expect(entries.value == 1)
        await owner.close()
    }

    @Test("a caller that begins while it ends hears that it is closed, not that its own task was cancelled")
    func beginsWhileItEnds() async throws {
        let clock = ManualClock()
        let entries = Box(0)
        let store = try await store { made, _ throws(SharedCoreError) in
            guard made == .watch else { return }
            entries.update { $0 += 1 }
            do { try await clock.sleep(until: BootInstant(nanoseconds: .max)) } catch {
                throw SharedCoreError(.cancelled, "Given up.", at: "test")
            }
        }
        let participant = try participant(store)
        let start = Task { try await participant.startMain(takingOver: false, reporting: nil) }
        try await eventually("it begins") { entries.value == 1 }

        await participant.close()

        let error = await #expect(throws: CoordinationError.self) {
            try await withTimeout(TestTimeout.usual, "the start ends") { try await start.value }
        }
        #expect(error?.code == .closed)
    }

    @Test("one that could not prepare itself begins when it is asked")
    func beginsAfterAll() async throws {
        let watches = Box(0)
        let store = try await store { made, _ throws(SharedCoreError) in
            guard made == .watch else { return }
            watches.update { $0 += 1 }
            if watches.value == 1 { throw SharedCoreError(.unavailable, "Not yet.", at: "test") }
        }
        let participant = try participant(store)
        try await prepare(participant)
        #expect(watches.value == 1)

        try await withTimeout(TestTimeout.usual, "it owns") {
            try await participant.startMain(takingOver: false, reporting: nil)
        }

        #expect(watches.value == 2)
        #expect(await participant.state.isCoreRunning)
        await participant.close()
    }

    @Test("C3, C6: only an Executor that owns is looked for early", arguments: [SessionRole.executor, .main])
    func looksForExecutors(owner role: SessionRole) async throws {
        let owner = try await own(role)
        let looks = Box(0)
        let store = try await store { made, _ in if made == .sessions { looks.update { $0 += 1 } } }
        let participant = try participant(store)
        try await prepare(participant)
        #expect(await participant.machine.view.owner != nil)
        #expect(looks.value == (role == .executor ? 1 : 0))
        #expect(await (participant.machine.lastBurial != nil) == (role == .executor))
        await participant.close()
        await owner.close()
    }

    @Test("C3: a Main knows of the end that its early look has shown, before its watch tells")
    func seesTheEnd() async throws {
        let owner = try await own(.executor)
        let store = try await store(isDeaf: true) { made, _ in if made == .sessions { await owner.close() } }
        let participant = try participant(store)
        try await prepare(participant)
        #expect(await participant.machine.view.owner == nil)
        await participant.close()
    }

    @Test("one that is begun at once leaves the look to what it is begun for")
    func givesWay() async throws {
        let owner = try await own(.executor)
        let gate = Promise<Void>()
        let (looks, begun) = (Box(0), Box(0))
        let store = try await store { made, _ in
            if made == .sessions { looks.update { $0 += 1 } } else { await gate.pass() }
        }
        let participant = try participant(store)
        participant.prepare()
        try await eventually("it prepares itself") { gate.waiterCount == 1 }
        let begins = Task { try await participant.begin(noting: begun) }
        try await eventually("it is to begin") { begun.value == 1 }
        // After the preparation, on the same actor.
        let preparation = try #require(await participant.preparation)

        gate.open()
        try await withTimeout(TestTimeout.usual, "it begins") { try await begins.value }
        try await withTimeout(TestTimeout.usual, "it has prepared itself") { await preparation.value }

        #expect(looks.value == 0)
        await participant.close()
        await owner.close()
    }

    @Test("C9: an Executor asks what others wait for on the participants' thread, not on the application's")
    func demand() async throws {
        let clock = ManualClock()
        let asked = Box<[Bool]>([])
        let world = World(clock: clock)
        let group = try await world.space.open("group", as: SessionDescription(role: .executor))
        let store = HookedStore(group, isDeaf: false) { _, prefixes in
            guard prefixes == Demand.prefixes else { return }
            asked.update { $0.append(isOnParticipantThread()) }
        }
        let process = world.processes.start()
        let executor = try ExecutorParticipant(
            of: store, options: .patient,
            environment: CoordinationEnvironment(clock: clock, processes: world.processes, seed: 7)
        ) {
            ScriptedCore(server: world.server, gauge: world.gauge, process: process, script: .init())
        }
        try await withTimeout(TestTimeout.usual, "it runs") { try await executor.start() }
        try await eventually("it asks what others wait for") { !asked.value.isEmpty }
        #expect(asked.value == [true])
        await executor.close()
    }
}

/// Returns true if the task executor of this task is the participants' thread.
private func isOnParticipantThread() -> Bool {
    withUnsafeCurrentTask { $0?.unownedTaskExecutor } == ParticipantThread.shared.asUnownedTaskExecutor()
}

extension Participant {
    fileprivate func begin(noting begun: Box<Int>) async throws(SharedCoreError) {
        begun.update { $0 += 1 }
        try await begin()
    }
}

/// A store that calls a hook before `watch` and `sessions`. If deaf, its watches deliver only their first event.
private final class HookedStore: ForwardingStore {
    let inner: any SharedStore
    private let isDeaf: Bool
    private let before: @Sendable (PreparationTests.Call, [KeyPrefix]) async throws(SharedCoreError) -> Void

    init(
        _ group: MemoryGroup, isDeaf: Bool,
        before: @escaping @Sendable (PreparationTests.Call, [KeyPrefix]) async throws(SharedCoreError) -> Void
    ) {
        inner = group
        self.isDeaf = isDeaf
        self.before = before
    }

    func watch(_ prefixes: [KeyPrefix], from start: WatchStart) async throws(SharedCoreError) -> Watch {
        try await before(.watch, prefixes)
        let watch = try await inner.watch(prefixes, from: start)
        let isBegun = Box(false)
        return Watch(
            next: { [isDeaf] () async throws(SharedCoreError) in
                while let event = try await watch.next() {
                    if isDeaf, isBegun.value { continue }
                    isBegun.update { $0 = true }
                    return event
                }
                return nil
            }, cancel: { watch.cancel() })
    }

    func sessions() async throws(SharedCoreError) -> [Session] {
        try await before(.sessions, [])
        return try await inner.sessions()
    }
}
