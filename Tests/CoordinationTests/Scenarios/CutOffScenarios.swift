import CoreAPI
import CoreAPITesting
import InMemoryBackend
import SharedCoreTesting
import TestSupport
import Testing

@testable import Coordination

/// A participant of a group that does not answer for the whole lease of the session.
@Suite(.serialized)
struct CutOffScenarios {
    private static let lease = Duration.seconds(6)

    private struct Stage {
        let clock = ManualClock()
        let world: World
        let store: UncertainStore
        let main: MainParticipant
        let reasons = Box<[StopRequest]>([])

        init(_ change: (inout ScriptedCore.Script) -> Void = { _ in }) async throws {
            let world = World(clock: clock, options: .usual)
            self.world = world
            let process = world.processes.start()
            let group = try await world.space.open(
                "group", as: SessionDescription(role: .main, name: "afar"), process: process.identity)
            let store = UncertainStore(group, lease: CutOffScenarios.lease, by: clock)
            self.store = store
            var script = ScriptedCore.Script()
            script.onStop = { [reasons] request in reasons.update { $0.append(request) } }
            change(&script)
            let environment = CoordinationEnvironment(
                clock: clock, processes: world.processes, witness: world.witness, seed: 7)
            main = try MainParticipant(of: store, options: .usual, environment: environment) { [script] in
                ScriptedCore(server: world.server, gauge: world.gauge, process: process, script: script)
            }
        }

        /// Lets time pass in steps. At each step, all tasks that are due run.
        func pass(_ duration: Duration, keepingAlive: Bool = false, until isOver: () async -> Bool = { false }) async {
            var passed = Duration.zero
            while passed < duration, !(await isOver()) {
                passed += .milliseconds(50)
                clock.advance(by: .milliseconds(50))
                if keepingAlive { store.keepAlive() }
                // The tasks that woke up run before this call is answered.
                for _ in 0..<20 { _ = await main.coreStarts }
            }
        }

        var isStopped: Bool { !reasons.value.isEmpty }
    }

    @Test("C19: its core stops before its session may be over, and another starts under a new epoch when it answers")
    func stopsAndComesBack() async throws {
        let stage = try await Stage()
        let (waits, reasons) = (Box<[OwnershipWaitReason]>([]), stage.reasons)
        try await stage.main.start(reporting: { reason in waits.update { $0.append(reason) } })
        let epoch = try #require(await stage.main.epoch)
        await stage.pass(.seconds(30), keepingAlive: true)
        #expect(!stage.isStopped, "it is confirmed all the time")

        stage.store.setSilent(true)
        // The participant is to answer, and waits for the store from then on.
        let challenge = ChallengeRecord(claim: epoch)
        _ = try await stage.world.observer().put(OwnershipKey.challenge, challenge.bytes)
        try await eventually("it waits for the store") { stage.store.waiterCount > 0 }
        let cut = stage.clock.now()
        await stage.pass(.seconds(20), until: { stage.isStopped })
        let passed = cut.duration(to: stage.clock.now())
        #expect(passed >= .milliseconds(3_900) && passed <= .milliseconds(4_500), "\(passed)")
        #expect(reasons.value == [StopRequest(.cutOff, within: .seconds(2))], "a third of the lease")
        try await eventually("the core has stopped") { stage.world.gauge.running.isEmpty }
        await stage.pass(.seconds(5))
        #expect(await stage.main.coreStarts == 1, "none is started in doubt")
        let told = waits.value.filter { if case .store = $0 { true } else { false } }
        #expect(told.count == 1, "the caller hears of it once: \(waits.value)")

        stage.store.setSilent(false)
        stage.store.keepAlive()
        await stage.pass(.seconds(30), keepingAlive: true, until: { await stage.main.coreStarts == 2 })
        try await eventually("its core runs") { try await stage.world.owner()?.state == .running }
        #expect(try #require(await stage.main.epoch) > epoch)
        #expect(stage.world.gauge.overlaps.isEmpty)
        await stage.main.stop()
        let (report, entries) = try await stage.world.report()
        #expect(report.isClean, "\(report.violations)")
        let stops = entries.filter { $0.kind == .coreStopped }
        #expect(stops.first?.reason.contains("cut off") == true, "\(stops)")
    }

    @Test("C19: a silence of the store that is shorter than the bound stops no core")
    func shortCut() async throws {
        let stage = try await Stage()
        try await stage.main.start()
        for _ in 0..<5 {
            stage.store.setSilent(true)
            await stage.pass(.milliseconds(3_800))
            stage.store.setSilent(false)
            stage.store.keepAlive()
            await stage.pass(.seconds(1), keepingAlive: true)
        }
        #expect(!stage.isStopped)
        #expect(await stage.main.coreStarts == 1)
        await stage.main.stop()
    }

    @Test("C18, C19: a core that stops waits for no answer: neither for one that is owed, nor for what it asks then")
    func stopWaitsForNothing() async throws {
        let (write, errors) = (Box<Task<SharedCoreError?, Never>?>(nil), Box<[SharedCoreError.Code?]>([]))
        let (context, hasStopped) = (Box<CoreContext?>(nil), Box(false))
        let stage = try await Stage { script in
            script.onStart = { given in context.update { $0 = given } }
            script.stopping = {
                let store = context.value?.store
                let owed = await write.value?.value?.code
                let read = await code { _ = try await store?.get("k") }
                let put = await code { _ = try await store?.put("k", [1]) }
                let causal = await code { _ = try await store?.get("k", consistency: .causal) }
                errors.update { $0 = [owed, read, put, causal] }
                hasStopped.update { $0 = true }
            }
        }
        try await stage.main.start()
        stage.store.setSilent(true)
        let store = try #require(context.value?.store)
        write.update {
            $0 = Task {
                do throws(SharedCoreError) {
                    try await store.put("sent", [1])
                    return nil
                } catch {
                    return error
                }
            }
        }
        try await eventually("the write is under way") { stage.store.waiterCount > 0 }

        await stage.pass(.seconds(20), until: { hasStopped.value })

        #expect(hasStopped.value)
        #expect(errors.value == [.unavailable, .unavailable, .unavailable, nil])
        stage.store.setSilent(false)
        await stage.main.stop()
    }

    @Test("C19, C8: a core that begins to stop in doubt and is confirmed meanwhile writes its last words")
    func lastWords() async throws {
        let (gate, error, context) = (Promise<Void>(), Box<SharedCoreError.Code??>(nil), Box<CoreContext?>(nil))
        let stage = try await Stage { script in
            script.onStart = { given in if context.value == nil { context.update { $0 = given } } }
            script.stopping = {
                await gate.pass()
                let last = await code { _ = try await context.value?.store.put("k", [1]) }
                error.update { $0 = $0 ?? .some(last) }
            }
        }
        try await stage.main.start()
        stage.store.setSilent(true)
        await stage.pass(.seconds(20), until: { stage.isStopped })
        stage.store.setSilent(false)
        stage.store.keepAlive()
        gate.open()
        await stage.pass(.seconds(5), keepingAlive: true, until: { error.value != nil })
        #expect(error.value == .some(.none), "\(String(describing: error.value))")
        await stage.main.stop()
    }
}

/// The code of the error that a call throws.
private func code(_ body: () async throws -> Void) async -> SharedCoreError.Code? {
    do {
        try await body()
        return nil
    } catch {
        return (error as? SharedCoreError)?.code ?? .system
    }
}

extension CoordinationOptions {
    /// The bounds of the contract, with a core's stop bound that no slow machine reaches.
    fileprivate static var usual: CoordinationOptions {
        var options = CoordinationOptions.patient
        options.stopTimeout = .seconds(60)
        return options
    }
}
