import Coordination
import CoreAPI
import CoreAPITesting
import InMemoryBackend
import SharedCoreTesting
import TestSupport
import Testing

/// The end of an owner that does not release, that is killed or that is frozen.
@Suite(.serialized)
struct HandoverScenarios {
    /// Bounds short enough for a test that waits for them to pass.
    static var brisk: CoordinationOptions {
        var options = CoordinationOptions.patient
        options.handoverTimeout = .milliseconds(500)
        options.handoverMaximumTimeout = .seconds(5)
        options.answerBound = .milliseconds(500)
        return options
    }

    @Test("C3, scenario 23: an Executor that is stopped at Main's deadline is killed, and Main owns")
    func stoppedExecutorIsKilledAtTheDeadline() async throws {
        let world = World(options: Self.brisk)
        let executor = try await world.executor()
        let wait = executor.wait(for: "call-1")
        try await eventually("the Executor owns") { try await world.owner()?.state == .running }
        executor.process.freeze()
        let main = try await world.main()

        try await main.participant.start()

        #expect(world.processes.killed == [executor.process.identity])
        #expect(try await world.owner()?.role == .main)
        let error = await #expect(throws: CoordinationError.self) { try await wait.value }
        #expect(error?.code == .fenced)
        let (report, entries) = try await world.report()
        #expect(report.isClean, "\(report.violations)")
        #expect(entries.contains { $0.kind == .killed })
        let asked = try #require(entries.first { $0.kind == .asked })
        let killed = try #require(entries.first { $0.kind == .killed })
        #expect(asked.at.duration(to: killed.at) >= .milliseconds(500))
    }

    @Test(
        "C3: a Main that was stopped between the announcement of a kill and the signal looks again, and kills nothing")
    func killLooksAgain() async throws {
        let world = World(options: Self.brisk)
        let executor = try await world.executor()
        let wait = executor.wait(for: "call-1")
        try await eventually("the Executor owns") { try await world.owner()?.state == .running }
        executor.process.freeze()
        let observer = try await world.observer()
        let (hasAnnounced, isOver) = (Box(false), Box(false))
        let process = world.processes.start()
        let group = try await world.space.open(
            "group", as: SessionDescription(role: .main, name: "main"), process: process.identity)
        process.attach(group)
        // Others have removed the Main's request meanwhile, and the owner has released its ownership.
        let store = InterposedStore(
            group,
            beforeList: { prefix in
                guard prefix == OwnershipKey.path, hasAnnounced.value, !isOver.value else { return }
                isOver.update { $0 = true }
                var transaction = Transaction()
                transaction.delete(OwnershipKey.handover)
                transaction.delete(OwnershipKey.owner)
                _ = try? await observer.commit(transaction)
            },
            afterList: { prefix, snapshot in
                let request = snapshot.entries.first { $0.key == OwnershipKey.handover }
                guard request.map({ HandoverRecord(bytes: $0.value).isKilling }) == true else { return }
                hasAnnounced.update { $0 = true }
            })
        let main = try MainParticipant(
            of: store, options: world.options,
            environment: CoordinationEnvironment(clock: world.clock, processes: world.processes, seed: 7)
        ) {
            ScriptedCore(server: world.server, gauge: world.gauge, process: process, script: .init())
        }

        try await main.start()

        #expect(isOver.value)
        #expect(world.processes.killed.isEmpty)
        executor.process.thaw()
        wait.cancel()
        _ = try? await wait.value
        await main.stop()
    }

    @Test("C3, scenario 23: with `fence` the stopped Executor lives; its next write is refused and its core stops")
    func stoppedExecutorIsFencedWhereConfigured() async throws {
        var options = Self.brisk
        options.onHandoverTimeout = .fence
        let world = World(options: options)
        let contexts = Box<[CoreContext]>([])
        var script = ScriptedCore.Script()
        script.onStart = { context in contexts.update { $0.append(context) } }
        let executor = try await world.executor(script: script)
        let wait = executor.wait(for: "call-1")
        try await eventually("the Executor owns") { try await world.owner()?.state == .running }
        executor.process.freeze()
        let main = try await world.main()

        try await main.participant.start()
        #expect(world.processes.killed.isEmpty)
        try await eventually("the witness has seen both cores") {
            try await world.report().report.supersededOverlaps == 1
        }
        executor.process.thaw()

        let context = try #require(contexts.value.first)
        let error = await #expect(throws: SharedCoreError.self) {
            try await context.store.put("application/late", [1])
        }
        #expect(error?.code == .guardFailed)
        try await eventually("the superseded core stops") { world.gauge.running.count == 1 }
        #expect(try await world.observer().get("application/late") == nil)
        // The Executor's wait goes on, and Main's core serves it.
        world.server.receive(try .text("call-1"))
        #expect(try await wait.value.source == .inbox)
        let (report, entries) = try await world.report()
        #expect(report.isClean, "\(report.violations)")
        #expect(report.overlaps == 0)
        let tookOver = try #require(entries.first { $0.kind == .tookOver })
        #expect(tookOver.previous?.end == .deadlinePassed)
        #expect(tookOver.reason.contains("may still run"))
        #expect(entries.contains { $0.kind == .fenced })
    }

    @Test("C4, C15: a core that is frozen just before its start, and superseded meanwhile, does not start any more")
    func supersededBeforeItsStart() async throws {
        var options = Self.brisk
        options.onHandoverTimeout = .fence
        var impatient = options
        impatient.stopTimeout = .milliseconds(300)
        // Main does not wait for long for the core that is stopping, and the Executor does not release its ownership by
        // itself.
        let world = World(options: impatient)
        let witness = HeldWitness(witness: world.witness)
        let executor = try await world.executor(options: options, witness: witness)
        let wait = executor.wait(for: "call-1")
        try await eventually("its core is about to start") { witness.hasCome.value }
        let main = try await world.main()
        try await main.participant.start()

        witness.mayGoOn.update { $0 = true }

        try await eventually("the witness has seen Main's core") {
            try await world.report().report.supersededOverlaps == 1
        }
        world.server.receive(try .text("call-1"))
        #expect(try await wait.value.source == .inbox)
        #expect(world.gauge.starts.map(\.epoch) == [try #require(try await world.owner()).epoch])
        let (report, _) = try await world.report()
        #expect(report.isClean, "\(report)")
    }

    @Test("C3: where the Executor cannot be killed it is fenced, and the timeline says why and that it may still run")
    func executorThatCannotBeKilledIsFenced() async throws {
        let world = World(options: Self.brisk)
        world.processes.refuse(because: "it is out of reach")
        let executor = try await world.executor()
        let wait = executor.wait(for: "call-1")
        try await eventually("the Executor owns") { try await world.owner()?.state == .running }
        executor.process.freeze()
        let main = try await world.main()

        try await main.participant.start()

        let (report, entries) = try await world.report()
        #expect(report.isClean, "\(report.violations)")
        let tookOver = try #require(entries.first { $0.kind == .tookOver })
        #expect(tookOver.reason.contains("out of reach"))
        #expect(tookOver.reason.contains("may still run"))
        executor.process.thaw()
        wait.cancel()
        await #expect(throws: CoordinationError.self) { try await wait.value }
    }

    @Test("C3: an Executor of the same process is never killed, but fenced")
    func ownProcessIsNotKilled() async throws {
        var options = Self.brisk
        options.handoverTimeout = .milliseconds(300)
        options.stopTimeout = .milliseconds(300)
        let world = World(options: options)
        let stuck = Promise<Void>()
        var script = ScriptedCore.Script()
        script.stop = stuck
        let executor = try await world.executor(script: script)
        let wait = executor.wait(for: "call-1")
        try await eventually("the Executor owns") { try await world.owner()?.state == .running }
        let main = try await world.main(in: executor.process)

        try await main.participant.start()

        #expect(world.processes.killed.isEmpty)
        #expect(try await world.owner()?.role == .main)
        stuck.open()
        wait.cancel()
        _ = try? await wait.value
    }

    @Test("C3: an Executor whose core takes its time to stop is not killed at the deadline, and its last word is heard")
    func slowStopIsAwaited() async throws {
        let world = World(options: Self.brisk)
        let farewell = Promise<Void>()
        var script = ScriptedCore.Script()
        script.stop = farewell
        let executor = try await world.executor(script: script)
        let wait = executor.wait(for: "call-1")
        try await eventually("the Executor owns") { try await world.owner()?.state == .running }
        let main = try await world.main()
        let start = Task { try await main.participant.start() }
        // The owner is challenged once half of the deadline is over: from then on its answers keep it alive.
        let observer = try await world.observer()
        try await eventually("it has answered") {
            try await observer.get(".sharedcore/ownership/answer") != nil
        }
        let asked = try #require(try await world.report().entries.first { $0.kind == .asked })
        try await eventually("the deadline is long over") {
            asked.at.duration(to: world.clock.now()) > .milliseconds(1200)
        }
        #expect(world.processes.killed.isEmpty)

        farewell.open()

        try await start.value
        #expect(world.processes.killed.isEmpty)
        let (report, entries) = try await world.report()
        #expect(report.isClean, "\(report.violations)")
        #expect(!entries.contains { $0.kind == .tookOver || $0.kind == .coreGivenUp })
        wait.cancel()
        _ = try? await wait.value
    }

    @Test("C3: a critical section that was entered before the request is finished first")
    func criticalSectionIsFinished() async throws {
        let world = World()
        let work = Promise<Void>()
        let entered = Promise<Void>()
        var script = ScriptedCore.Script()
        let left = Box(false)
        script.onStart = { context in
            try await context.enterCriticalSection(maximumDuration: .seconds(100))
            entered.open()
            await work.pass()
            left.update { $0 = true }
            try await context.leaveCriticalSection()
        }
        let executor = try await world.executor(script: script)
        let wait = executor.wait(for: "call-1")
        await entered.pass()
        let main = try await world.main()
        let start = Task { try await main.participant.start() }
        try await eventually("Main has asked") {
            try await world.report().entries.contains { $0.kind == .asked }
        }
        #expect(try await world.owner()?.state != .stopping)

        work.open()

        try await start.value
        #expect(left.value)
        #expect(try await world.owner()?.role == .main)
        #expect(world.gauge.overlaps.isEmpty)
        wait.cancel()
        _ = try? await wait.value
    }

    @Test("C3: no critical section is entered once a request is pending")
    func criticalSectionIsRefusedAfterTheRequest() async throws {
        let world = World()
        let contexts = Box<[CoreContext]>([])
        let stuck = Promise<Void>()
        var script = ScriptedCore.Script()
        script.onStart = { context in contexts.update { $0.append(context) } }
        script.stop = stuck
        let executor = try await world.executor(script: script)
        let wait = executor.wait(for: "call-1")
        try await eventually("the Executor owns") { try await world.owner()?.state == .running }
        let main = try await world.main()
        let start = Task { try await main.participant.start() }
        try await eventually("the Executor stops") { try await world.owner()?.state == .stopping }

        let context = try #require(contexts.value.first)
        let error = await #expect(throws: SharedCoreError.self) {
            try await context.enterCriticalSection(maximumDuration: .seconds(1))
        }

        #expect(error?.code == .guardFailed)
        stuck.open()
        try await start.value
        wait.cancel()
        _ = try? await wait.value
    }

    @Test("C5, scenarios 9 and 13: a process that only reads, is refused or stops late changes nothing of the owner")
    func othersEndsDoNotTouchTheOwner() async throws {
        let world = World()
        let main = try await world.main()
        try await main.participant.start()
        let epoch = try #require(await main.participant.epoch)
        world.server.receive(try .text("call-1"))

        let reader = try await world.executor("reader")
        _ = try await reader.participant.message(forCallID: .of("call-1"), timeout: .seconds(30))
        await reader.participant.close()
        await reader.group.close()
        let insisting = try await world.executor("insisting")
        await #expect(throws: CoordinationError.self) {
            try await insisting.participant.message(forCallID: .of("call-2"), timeout: .seconds(30), insisting: true)
        }
        insisting.process.kill()

        #expect(try await world.owner()?.epoch == epoch)
        world.server.receive(try .text("call-3"))
        let later = try await world.executor("later")
        let answer = try await later.participant.message(forCallID: .of("call-3"), timeout: .seconds(30))
        #expect(answer.source == .inbox)
        #expect(world.gauge.starts.count == 1)
    }

    @Test("C6, scenarios 11 and 12: a killed owner is followed at once, also by one that opens only then")
    func killedOwnerIsFollowed() async throws {
        let world = World()
        let main = try await world.main()
        try await main.participant.start()
        main.process.kill()
        world.server.receive(try .text("call-1"))

        let executor = try await world.executor()
        let answer = try await executor.participant.message(forCallID: .of("call-1"), timeout: .seconds(30))

        #expect(answer.source == .core)
        let (report, entries) = try await world.report()
        #expect(report.isClean, "\(report.violations)")
        #expect(entries.last { $0.kind == .acquired }?.previous?.end == .sessionEnded)
    }

    @Test("C6: a Main that is frozen is fenced after an unanswered challenge, never killed; it asks anew when it runs")
    func frozenMainIsFencedAndComesBack() async throws {
        var options = Self.brisk
        // Long, for the request of the Main when it runs again.
        options.handoverTimeout = .seconds(60)
        let world = World(options: options)
        let main = try await world.main()
        try await main.participant.start()
        main.process.freeze()
        world.server.receive(try .text("call-1"))
        let executor = try await world.executor()

        let answer = try await executor.participant.message(forCallID: .of("call-1"), timeout: .seconds(60))

        #expect(answer.source == .core)
        #expect(world.processes.killed.isEmpty)
        main.process.thaw()
        try await eventually("Main owns again") {
            let owner = try await world.owner()
            return owner?.role == .main && owner?.state == .running
        }
        try await eventually("one core runs") { world.gauge.running.count == 1 }
        let (report, entries) = try await world.report()
        #expect(report.isClean, "\(report.violations)")
        let tookOver = try #require(entries.first { $0.kind == .tookOver })
        #expect(tookOver.previous?.end == .unanswered)
        let challenged = try #require(entries.first { $0.kind == .challenged })
        #expect(try #require(challenged.bound) >= .milliseconds(500))
        #expect(challenged.at <= tookOver.at)
    }

    @Test("C6: a frozen Executor is fenced by the next one that waits")
    func frozenExecutorIsFencedByAnother() async throws {
        let world = World(options: Self.brisk)
        let frozen = try await world.executor("frozen")
        let lost = Task {
            try await frozen.participant.message(forCallID: .of("call-1"), timeout: .seconds(3600))
        }
        try await eventually("it owns") { try await world.owner()?.state == .running }
        frozen.process.freeze()
        world.server.receive(try .text("call-2"))
        let other = try await world.executor("other")

        let answer = try await other.participant.message(forCallID: .of("call-2"), timeout: .seconds(60))

        #expect(answer.message?.callID == (try .of("call-2")))
        #expect(answer.source == .core)
        frozen.process.thaw()
        lost.cancel()
        _ = try? await lost.value
        let (report, _) = try await world.report()
        #expect(report.isClean, "\(report.violations)")
    }

    @Test("C6: a Main that answers is never taken for frozen, however long others wait")
    func answeringMainKeepsOwnership() async throws {
        let world = World(options: Self.brisk)
        let main = try await world.main()
        try await main.participant.start()
        let epoch = try #require(await main.participant.epoch)
        let executor = try await world.executor()

        let error = await #expect(throws: CoordinationError.self) {
            try await executor.participant.message(forCallID: .of("call-1"), timeout: .seconds(3))
        }

        #expect(error?.code == .timeout)
        #expect(try await world.owner()?.epoch == epoch)
        #expect(world.gauge.starts.count == 1)
        let observer = try await world.observer()
        #expect(try await observer.get(".sharedcore/ownership/answer") != nil)
    }

    @Test("C14: a second Main is refused, and takes over when told to; the old one is fenced, not killed")
    func secondMain() async throws {
        let world = World()
        let first = try await world.main("first")
        try await first.participant.start()
        let second = try await world.main("second")

        let error = await #expect(throws: CoordinationError.self) { try await second.participant.start() }
        #expect(error?.code == .refused)
        #expect(error?.owner?.name == "first")

        try await second.participant.start(takingOver: true)
        #expect(try await world.owner()?.name == "second")
        #expect(await first.participant.waitUntilEnded() == .superseded)
        #expect(world.gauge.overlaps.isEmpty)
        #expect(world.processes.killed.isEmpty)
    }

    @Test("C14: a Main that was frozen and lost to an Executor gives way to another Main that it then finds")
    func frozenMainFindsAnother() async throws {
        var options = Self.brisk
        options.handoverTimeout = .seconds(60)
        options.stopTimeout = .seconds(60)
        let world = World(options: options)
        let first = try await world.main("first")
        try await first.participant.start()
        first.process.freeze()
        world.server.receive(try .text("call-1"))
        // The core takes time to stop, so that the first Main runs again while the second waits.
        let stop = Promise<Void>()
        var script = ScriptedCore.Script()
        script.stop = stop
        let executor = try await world.executor(script: script)
        _ = try await executor.participant.message(forCallID: .of("call-1"), timeout: .seconds(60))
        let second = try await world.main("second")
        let start = Task { try await second.participant.start() }
        try await eventually("the second Main has asked") {
            try await world.report().entries.contains { $0.kind == .asked && $0.name == "second" }
        }

        let ended = Box<MainEndReason?>(nil)
        let watching = Task {
            let end = await first.participant.waitUntilEnded()
            ended.update { $0 = end }
        }

        first.process.thaw()

        try await eventually("the first Main gives way") { ended.value == .superseded }
        await watching.value
        stop.open()
        try await start.value
        #expect(try await world.owner()?.name == "second")
    }

    @Test("C14: an old Main that is frozen is fenced at the deadline by the one that takes over")
    func frozenMainIsReplaced() async throws {
        let world = World(options: Self.brisk)
        let first = try await world.main("first")
        try await first.participant.start()
        first.process.freeze()
        let second = try await world.main("second")

        try await second.participant.start(takingOver: true)

        #expect(try await world.owner()?.name == "second")
        #expect(world.processes.killed.isEmpty)
        first.process.thaw()
        #expect(await first.participant.waitUntilEnded() == .superseded)
        try await eventually("the old core stops") { world.gauge.running.count == 1 }
        let (report, entries) = try await world.report()
        #expect(report.isClean, "\(report.violations)")
        #expect(entries.first { $0.kind == .tookOver }?.previous?.end == .replaced)
    }

    @Test("C14: an old Main that was frozen while another one took over and ended gives way as well")
    func frozenMainFindsNoOwner() async throws {
        let world = World(options: Self.brisk)
        let first = try await world.main("first")
        try await first.participant.start()
        first.process.freeze()
        let second = try await world.main("second")
        try await second.participant.start(takingOver: true)
        await second.participant.stop()
        #expect(try await world.owner() == nil)

        first.process.thaw()

        #expect(await first.participant.waitUntilEnded() == .superseded)
        #expect(world.gauge.starts.count == 2)
    }

    @Test("scenario 8: a core whose stop hangs is given up after its bound, and ownership is released")
    func hangingStopIsGivenUp() async throws {
        var options = CoordinationOptions.patient
        options.stopTimeout = .milliseconds(300)
        let world = World(options: options)
        let stuck = Promise<Void>()
        var script = ScriptedCore.Script()
        script.stop = stuck
        world.server.receive(try .text("call-1"))
        let executor = try await world.executor(script: script)
        _ = try await executor.participant.message(forCallID: .of("call-1"), timeout: .seconds(30))

        await executor.participant.finish()

        #expect(try await world.owner() == nil)
        let (report, entries) = try await world.report()
        #expect(report.isClean, "\(report.violations)")
        #expect(entries.contains { $0.kind == .coreGivenUp })
        // The next one owns although that core still runs, and the witness counts it as superseded.
        let next = try await world.executor("next")
        world.server.receive(try .text("call-2"))
        let answer = try await next.participant.message(forCallID: .of("call-2"), timeout: .seconds(30))
        #expect(answer.source == .core)
        try await eventually("the witness has told") {
            try await world.report().entries.contains { $0.kind == .supersededOverlap }
        }
        #expect(try await world.report().report.overlaps == 0)
        stuck.open()
    }

    @Test(
        "scenario 8: a core that ends by itself and whose stop hangs is given up like any other",
        arguments: [true, false])
    func hangingStopAfterAFailure(mainOwns: Bool) async throws {
        var options = CoordinationOptions.patient
        options.stopTimeout = .milliseconds(300)
        let world = World(options: options)
        let stuck = Promise<Void>()
        var script = ScriptedCore.Script()
        script.stop = stuck
        script.endsByItself = true
        let main = try await world.main(script: script)
        let executor = try await world.executor(script: script)
        let wait = Task {
            if mainOwns { return try await main.participant.start() }
            _ = try await executor.participant.message(
                forCallID: .of("call-1"), timeout: .seconds(3600), insisting: true)
        }

        try await eventually("the core is given up") {
            try await world.report().entries.contains { $0.kind == .coreGivenUp }
        }

        try await eventually("nobody owns") { try await world.owner() == nil }
        let (report, entries) = try await world.report()
        #expect(report.isClean, "\(report.violations)")
        #expect(entries.first { $0.kind == .coreGivenUp }?.reason.contains("ended by itself") == true)
        if mainOwns {
            let end = try await withTimeout(TestTimeout.usual, "the Main has ended") {
                await main.participant.waitUntilEnded()
            }
            guard case .coreFailed = end else {
                Issue.record("a Main whose core ended by itself: \(end)")
                return
            }
        }
        wait.cancel()
        stuck.open()
        _ = await wait.result
    }
}
