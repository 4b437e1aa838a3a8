import Coordination
import CoreAPI
import CoreAPITesting
import InMemoryBackend
import SharedCoreTesting
import TestSupport
import Testing

/// A Main at rest with watches that show less than its reads.
@Suite(.serialized)
struct RestWatchScenarios {
    /// A store that replaces some watches by others.
    private struct OtherWatches: ForwardingStore {
        let inner: any SharedStore
        let other: @Sendable (any SharedStore, [KeyPrefix]) async throws(SharedCoreError) -> Watch?
        let reads: Box<Int>

        func watch(_ prefixes: [KeyPrefix], from start: WatchStart) async throws(SharedCoreError) -> Watch {
            if let watch = try await other(inner, prefixes) { return watch }
            return try await inner.watch(prefixes, from: start)
        }

        func list(_ prefix: KeyPrefix, consistency: ReadConsistency) async throws(SharedCoreError) -> Snapshot {
            reads.update { $0 += 1 }
            return try await inner.list(prefix, consistency: consistency)
        }
    }

    /// Starts a Main that may rest, in a group with a holder.
    ///
    /// - Parameters:
    ///   - clock: Main's clock; nil for the clock of the world.
    ///   - reads: The number of Main's lists.
    private func main(
        in world: World, _ calls: Box<[String]>, clock: (any TimeSource)? = nil, reads: Box<Int> = Box(0),
        watches: @escaping @Sendable (any SharedStore, [KeyPrefix]) async throws(SharedCoreError) -> Watch?
    ) async throws -> (main: MainParticipant, group: any SharedStore, holder: TestParticipant<HolderParticipant>) {
        let holder = try await world.holder()
        let process = world.processes.start()
        let group = try await world.space.open(
            "group", as: SessionDescription(role: .main, name: "main"), process: process.identity)
        var script = ScriptedCore.Script()
        script.onRest = { _ in calls.update { $0.append("rest") } }
        script.onResume = { _, wake in calls.update { $0.append("resume \(wake)") } }
        script.onStop = { request in calls.update { $0.append("stop \(request.reason)") } }
        let main = try MainParticipant(
            of: OtherWatches(inner: group, other: watches, reads: reads), options: world.options,
            environment: CoordinationEnvironment(
                clock: clock ?? world.clock, processes: world.processes, seed: 3, push: nil)
        ) { [script] in
            ScriptedCore(server: world.server, gauge: world.gauge, process: process, script: script)
        }
        try await main.start()
        try await eventually("Main may rest") {
            guard try await world.owner()?.state == .running else { return false }
            return try await world.observer().get(OwnershipKey.holder) != nil
        }
        return (main, group, holder)
    }

    @Test("C26: a Main that resumes by itself tells its core the reason of a wake that has not reached its watch")
    func readsTheWake() async throws {
        let world = World()
        let calls = Box<[String]>([])
        let (main, _, holder) = try await main(in: world, calls) { store, prefixes throws(SharedCoreError) in
            // The watch of a Main at rest, without the wake.
            guard prefixes == OwnershipKey.ofSleep else { return nil }
            return try await store.watch(Array(prefixes.prefix(2)), from: .snapshot)
        }
        try await main.rest()
        let waking = Task { await holder.participant.wakeMain(for: .push) }
        try await eventually("its holder has woken it") {
            try await world.observer().get(OwnershipKey.wake) != nil
        }
        try await main.resume(for: .user)
        #expect(calls.value == ["rest", "resume push"])
        await waking.value
        await main.stop()
        await holder.participant.stop()
    }

    @Test("C26: a Main at rest reads its rest once a minute, and sets no other timer")
    func readsOnceAMinute() async throws {
        let world = World()
        let clock = ManualClock()
        let (calls, reads) = (Box<[String]>([]), Box(0))
        let (main, _, holder) = try await main(in: world, calls, clock: clock, reads: reads) { _, _ in nil }
        try await main.rest()
        let begin = clock.now()
        for minute in 1...3 {
            let due = begin.advanced(by: .seconds(60 * minute))
            let before = reads.value
            clock.advance(to: begin.advanced(by: .seconds(60 * minute - 1)))
            try await eventually("it sleeps until the minute is over") { clock.nextWake == due }
            #expect(reads.value == before)
            clock.advance(to: due)
            try await eventually("it reads") { reads.value == before + 1 }
        }
        #expect(await main.isAtRest)
        #expect(calls.value == ["rest"])
        await main.stop()
        await holder.participant.stop()
    }

    @Test("C26, C3: a Main that was woken for a hand-over sees the request, also where its new watch is behind")
    func readsBehindTheNewWatch() async throws {
        // No time passes, so the Main's read of each minute does not come.
        let world = World(clock: ManualClock())
        let calls = Box<[String]>([])
        let held = Box<Watch?>(nil)
        let (main, group, holder) = try await main(in: world, calls) { _, prefixes throws(SharedCoreError) in
            guard prefixes == [OwnershipKey.path] else { return nil }
            return held.update { watch in
                defer { watch = nil }
                return watch
            }
        }
        try await main.rest()
        // The first event of this watch shows the group as it is now: without the request that comes.
        let behind = try await group.watch([OwnershipKey.path], from: .snapshot)
        held.update { $0 = behind }
        let second = try await world.main("second")
        let start = Task { try await second.participant.start(takingOver: true) }
        try await eventually("its core stops for the other Main") { calls.value.last == "stop handover" }
        try await start.value
        #expect(calls.value == ["rest", "stop handover"])
        #expect(try await world.owner()?.session == second.group.session.id)
        await second.participant.stop()
        await main.stop()
        await holder.participant.stop()
    }
}
