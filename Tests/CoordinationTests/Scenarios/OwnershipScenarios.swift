import Coordination
import CoreAPI
import CoreAPITesting
import InMemoryBackend
import SharedCoreTesting
import TestSupport
import Testing

/// Main and Executor, as the reference describes them.
@Suite(.serialized)
struct OwnershipScenarios {
    @Test("C2, scenario 1: while a Main owns, an Executor's start is refused and changes nothing of the application's")
    func executorIsRefusedWhileMainOwns() async throws {
        let world = World()
        let main = try await world.main()
        try await main.participant.start()
        let observer = try await world.observer()
        try await observer.put("application/key", [1])
        let before = try await observer.list("application").entries
        let executor = try await world.executor()

        let error = await #expect(throws: CoordinationError.self) {
            _ = try await executor.participant.message(
                forCallID: .of("call-1"), timeout: .seconds(30), insisting: true)
        }

        #expect(error?.code == .refused)
        #expect(error?.owner?.role == .main)
        #expect(try await observer.list("application").entries == before)
        #expect(await executor.participant.coreStarts == 0)
        #expect(try await world.owner()?.role == .main)
        #expect(world.gauge.running.count == 1)
    }

    @Test(
        "E2: no record that cannot be read, whichever participant has left it, keeps a Main from owning",
        arguments: [
            "tenure", "ownership/owner", "ownership/handover", "ownership/critical", "ownership/activities",
            "ownership/moving", "ownership/takes", "ownership/challenge", "ownership/answer", "timeline/checkpoint",
            "timeline/x", "expectations/x/1",
            "expectations/x",
            "inbox/x", "exclusive/x", "ownership/refusal", "main-pushes/x/m",
        ])
    func unreadableRecord(_ path: String) async throws {
        let world = World(options: CoordinationOptions())
        let stranger = try await world.observer()
        _ = try await stranger.put(Key(".sharedcore/" + path), [0xff, 0xff, 0xff])
        await stranger.close()
        let main = try await world.main()
        try await main.participant.start()
        #expect(try await world.owner()?.role == .main)
        await main.participant.stop()
        let executor = try await world.executor()
        world.server.receive(try .text("call-1"))
        let result = try await executor.participant.message(forCallID: .of("call-1"), timeout: .seconds(30))
        #expect(try result.message?.callID == .of("call-1"))
        #expect(world.gauge.overlaps.isEmpty)
    }

    @Test("C3, scenario 2: an Executor that waits with its core running hands over to Main; never both run")
    func executorHandsOverToMain() async throws {
        let world = World()
        let executor = try await world.executor()
        let wait = Task {
            try await executor.participant.message(forCallID: .of("call-1"), timeout: .seconds(30))
        }
        try await eventually("the Executor's core runs") { world.gauge.running.count == 1 }
        let main = try await world.main()

        try await main.participant.start()

        #expect(try await world.owner()?.role == .main)
        #expect(world.gauge.starts.count == 2)
        #expect(world.gauge.overlaps.isEmpty)
        #expect(world.processes.killed.isEmpty)
        // The wait goes on, and Main's core serves it.
        world.server.receive(try .text("call-1"))
        #expect(try await wait.value.message?.callID == .of("call-1"))
        let (report, _) = try await world.report()
        #expect(report.isClean, "\(report.violations)")
    }

    @Test("C8: scenario 3: without an owner the Executor's core fetches the message, and stops")
    func executorFetchesItsMessage() async throws {
        let world = World()
        world.server.receive(try .text("call-1", "the text"))
        let executor = try await world.executor()

        let answer = try await executor.participant.message(forCallID: .of("call-1"), timeout: .seconds(30))
        let taken = try #require(answer.taken)
        #expect(
            taken.message.content
                == .text(from: "sip:a@example.org", to: "sip:b@example.org", text: "the text"))
        #expect(answer.source == .core)
        #expect(try await executor.participant.acknowledge(taken))

        await executor.participant.finish()
        #expect(world.gauge.running.isEmpty)
        #expect(world.gauge.starts.count == 1)
        #expect(try await world.owner() == nil)
        #expect(world.server.acknowledged == [try .of("call-1")])
        let (report, entries) = try await world.report()
        #expect(report.isClean, "\(report.violations)")
        #expect(
            entries.map(\.kind).filter { $0 != .stateChanged } == [.acquired, .coreStarted, .coreStopped, .released])
    }

    @Test("C8, scenario 4: what Main has already, an Executor gets without a core")
    func messageFromMain() async throws {
        let world = World()
        let main = try await world.main()
        try await main.participant.start()
        world.server.receive(try .text("call-1"))
        try await eventually("Main has stored it") { world.server.acknowledged.count == 1 }
        let executor = try await world.executor()

        let answer = try await executor.participant.message(forCallID: .of("call-1"), timeout: .seconds(30))

        #expect(answer.message?.callID == (try .of("call-1")))
        #expect(answer.source == .inbox)
        #expect(world.gauge.starts.count == 1)
    }

    @Test("C8, scenario 5: what Main receives after the wait began wakes the Executor")
    func messageReceivedByMainWhileWaiting() async throws {
        let world = World()
        let main = try await world.main()
        try await main.participant.start()
        let executor = try await world.executor()
        let wait = executor.wait(for: "call-1")
        try await eventually("the Executor is known to wait") { try await world.waitingCount() > 0 }

        world.server.receive(try .text("call-1"))

        let answer = try await withTimeout(TestTimeout.usual, "the Executor gets its message") { try await wait.value }
        #expect(answer.message?.callID == (try .of("call-1")))
        #expect(world.gauge.starts.count == 1)
    }

    @Test("C2: an Executor that was started once does not own again when the Main that took over has stopped")
    func startedExecutorOwnsOnce() async throws {
        let world = World()
        let executor = try await world.executor()
        try await executor.participant.start()
        let main = try await world.main()
        try await main.participant.start()

        await main.participant.stop()

        try await withTimeout(TestTimeout.usual, "the Executor wants nothing more") {
            await executor.participant.finish()
        }
        #expect(try await world.owner() == nil)
        #expect(world.gauge.starts.count == 2)
    }

    @Test("S13: when the handle is closed, or the session ends, each wait is told and the core stops")
    func handleIsClosed() async throws {
        let world = World()
        let executor = try await world.executor()
        let wait = executor.wait(for: "call-1")
        try await eventually("the Executor's core runs") { try await world.owner()?.state == .running }
        let main = try await world.main()

        await executor.group.close()

        let error = await #expect(throws: CoordinationError.self) { try await wait.value }
        // Also for a call that was on its way and finds the session gone.
        #expect(error?.code == .closed, "\(String(describing: error))")
        try await eventually("its core stops") { world.gauge.running.isEmpty }
        try await main.participant.start()
        main.process.kill()
        #expect(await main.participant.waitUntilEnded() == .sessionEnded)
        try await eventually("Main's core stops") { world.gauge.running.isEmpty }
    }

    /// Ends the ownership of an Executor with a core that does not stop, by `end`, and returns the Executor that owns
    /// next.
    private func successor(
        of end: (TestParticipant<ExecutorParticipant>) async -> Void, in world: World, stuck: Promise<Void>
    ) async throws -> TestParticipant<ExecutorParticipant> {
        var script = ScriptedCore.Script()
        script.stop = stuck
        let first = try await world.executor("first", script: script)
        let wait = first.wait(for: "call-1")
        try await eventually("the first owns") { try await world.owner()?.state == .running }
        await end(first)
        _ = await wait.result
        let second = try await world.executor("second")
        world.server.receive(try .text("call-2"))
        let answer = try await second.participant.message(forCallID: .of("call-2"), timeout: .seconds(3600))
        #expect(answer.source == .core)
        return second
    }

    @Test("C15: the locks that a killed process still has are no overlap, however long the system takes")
    func endingProcessIsNoOverlap() async throws {
        let world = World()
        let stuck = Promise<Void>()
        let second = try await successor(of: { $0.process.kill() }, in: world, stuck: stuck)
        await second.participant.finish()
        stuck.open()
        let (report, entries) = try await world.report()
        #expect(report.overlaps == 0 && report.supersededOverlaps == 0)
        #expect(!entries.contains { $0.kind == .problem })
    }

    @Test("C15: a core that runs on in a living process whose session has ended is an overlap")
    func livingProcessIsAnOverlap() async throws {
        let world = World()
        let stuck = Promise<Void>()
        let second = try await successor(of: { await $0.group.close() }, in: world, stuck: stuck)
        try await eventually("the overlap is told") { try await world.report().report.overlaps == 1 }
        stuck.open()
        await second.participant.finish()
    }

    @Test("C14, S14: a handle of another role is refused, and two groups never meet")
    func rolesAndGroups() async throws {
        let world = World()
        let observer = try await world.observer()
        #expect(throws: SharedCoreError.self) {
            try MainParticipant(of: observer) { ScriptedCore.idle(in: world) }
        }
        #expect(throws: SharedCoreError.self) {
            try ExecutorParticipant(of: observer) { ScriptedCore.idle(in: world) }
        }
        let here = try await world.main()
        try await here.participant.start()
        let elsewhere = try await world.space.open("other", as: SessionDescription(role: .main, name: "main"))
        let main = try MainParticipant(of: elsewhere) { ScriptedCore.idle(in: world) }
        try await main.start()
        #expect(await here.participant.epoch != nil)
        #expect(await main.epoch != nil)
        await main.stop()
        #expect(try await world.owner()?.role == .main)
    }

    @Test("C2, C8: a call that was refused leaves the other waits of its participant alone: they own when Main is gone")
    func refusalIsForgotten() async throws {
        let world = World()
        let main = try await world.main()
        try await main.participant.start()
        let executor = try await world.executor()
        let wait = executor.wait(for: "call-1")
        try await eventually("the call waits") { try await world.waitingCount() > 0 }
        let refusal = await #expect(throws: CoordinationError.self) {
            _ = try await executor.participant.message(
                forCallID: .of("call-2"), timeout: .seconds(3600), insisting: true)
        }
        #expect(refusal?.code == .refused)

        main.process.kill()
        world.server.receive(try .text("call-1"))

        let answer = try await withTimeout(TestTimeout.usual, "the Executor fetches its message") {
            try await wait.value
        }
        #expect(answer.source == .core)
        // And a request that insists now is not refused by a Main that was.
        let insisting = Task {
            try await executor.participant.message(
                forCallID: .of("call-2"), timeout: .seconds(3600), insisting: true)
        }
        world.server.receive(try .text("call-2"))
        let second = try await withTimeout(TestTimeout.usual, "its core runs") { try await insisting.value }
        #expect(second.source == .core)
        await executor.participant.close()
    }

    @Test("C2, C14, C15: a refusal is on the timeline, with the owner that stands")
    func refusalIsTold() async throws {
        let world = World()
        let main = try await world.main()
        try await main.participant.start()
        let epoch = await main.participant.epoch
        let executor = try await world.executor()
        let second = try await world.main("second")

        await #expect(throws: CoordinationError.self) {
            _ = try await executor.participant.message(
                forCallID: .of("call-1"), timeout: .seconds(3600), insisting: true)
        }
        await #expect(throws: CoordinationError.self) { try await second.participant.start() }

        let (report, entries) = try await world.report()
        #expect(report.isClean, "\(report.violations)")
        let refused = entries.filter { $0.kind == .refused }
        #expect(refused.map(\.role) == [.executor, .main])
        #expect(refused.allSatisfy { $0.other == epoch })
    }

    @Test("C14: a Main whose start is withdrawn has ended, and each wait for that hears it")
    func withdrawnStart() async throws {
        let world = World()
        let executor = try await world.executor()
        let call = Task {
            try await executor.participant.message(forCallID: .of("call-1"), timeout: .seconds(3600))
        }
        try await eventually("the Executor owns") { try await world.owner()?.state == .running }
        executor.process.freeze()
        let main = try await world.main()
        let ended = Box<MainEndReason?>(nil)
        let start = Task { try await main.participant.start() }
        try await eventually("Main has asked") {
            try await world.report().entries.contains { $0.kind == .asked }
        }
        let waiting = Task {
            let end = await main.participant.waitUntilEnded()
            ended.update { $0 = end }
        }
        // Each of these goes through the participant, so the wait has begun before the last returns.
        for _ in 0..<100 { _ = await main.participant.epoch }
        #expect(ended.value == nil)

        start.cancel()

        await #expect(throws: CoordinationError.self) { try await start.value }
        try await withTimeout(TestTimeout.usual, "it has ended") { await waiting.value }
        #expect(ended.value == .stopped)
        executor.process.thaw()
        call.cancel()
        _ = await call.result
    }

    @Test("C1: one handle takes part once at a time")
    func onePartOfOneHandle() async throws {
        let world = World()
        let group = try await world.space.open("group", as: SessionDescription(role: .main))
        let first = try MainParticipant(of: group, options: world.options) { ScriptedCore.idle(in: world) }
        let error = #expect(throws: SharedCoreError.self) {
            try MainParticipant(of: group, options: world.options) { ScriptedCore.idle(in: world) }
        }
        #expect(error?.code == .invalidArgument)
        try await first.start()
        let epoch = await first.epoch
        #expect(epoch != nil)
        await first.stop()

        let next = try MainParticipant(of: group, options: world.options) { ScriptedCore.idle(in: world) }
        try await next.start()
        #expect(await next.epoch != epoch)
        await next.stop()
        // A participant without references counts as one that has ended.
        _ = try MainParticipant(of: group, options: world.options) { ScriptedCore.idle(in: world) }
        try await eventually("another one may take part") {
            (try? MainParticipant(of: group, options: world.options) { ScriptedCore.idle(in: world) }) != nil
        }
    }
}
