import Coordination
import CoreAPI
import CoreAPITesting
import InMemoryBackend
import SharedCoreTesting
import TestSupport
import Testing

/// How messages reach the calls that wait for them.
@Suite(.serialized)
struct MessageScenarios {
    @Test("C7: a wait ends at its deadline, not before, with a typed error; Main keeps the core")
    func deadlineIsKept() async throws {
        let clock = ManualClock()
        let world = World(clock: clock)
        let main = try await world.main()
        try await main.participant.start()
        let executor = try await world.executor()
        let begin = clock.now()
        let isOver = Box(false)
        let wait = Task {
            defer { isOver.update { $0 = true } }
            return try await executor.participant.message(forCallID: .of("call-1"), timeout: .seconds(10))
        }
        try await eventually("it is known to wait") { try await world.waitingCount() > 0 }

        // As fast as the sleepers follow, up to just before the deadline.
        while clock.now() < begin.advanced(by: .milliseconds(9_900)) {
            try await eventually("somebody sleeps") { clock.sleeperCount > 0 }
            clock.advance(by: .milliseconds(50))
        }
        #expect(!isOver.value)
        clock.advance(by: .milliseconds(100))

        let error = await #expect(throws: CoordinationError.self) { try await wait.value }
        #expect(error?.code == .timeout)
        #expect(clock.now() == begin.advanced(by: .seconds(10)))
        #expect(try await world.owner()?.role == .main)
        try await eventually("its expectation is gone") { try await world.waitingCount() == 0 }
    }

    @Test("C7, scenario 19: a short deadline cuts no other wait, a long one holds no other up; the core goes on")
    func deadlinesAreIndependent() async throws {
        let world = World()
        let short = try await world.executor("short")
        let shortWait = Task {
            // Long enough for the other wait to begin on a busy machine.
            try await short.participant.message(forCallID: .of("call-1"), timeout: .seconds(15))
        }
        try await eventually("its core runs") { world.gauge.starts.count == 1 }
        let long = try await world.executor("long")
        let longWait = Task {
            try await long.participant.message(forCallID: .of("call-2"), timeout: .seconds(3600))
        }
        let error = await #expect(throws: CoordinationError.self) { try await shortWait.value }
        #expect(error?.code == .timeout)
        #expect(world.gauge.running.count == 1)

        world.server.receive(try .text("call-2"))

        #expect(try await longWait.value.source == .inbox)
        await short.participant.finish()
        #expect(world.gauge.starts.count == 1)
    }

    @Test("C7, S13: a cancelled wait ends at once and is no demand any more")
    func cancelledWait() async throws {
        let world = World()
        let executor = try await world.executor()
        let wait = executor.wait(for: "call-1")
        try await eventually("its core runs") { try await world.owner()?.state == .running }

        wait.cancel()

        let error = await #expect(throws: CoordinationError.self) { try await wait.value }
        #expect(error?.code == .cancelled)
        await executor.participant.finish()
        #expect(try await world.owner() == nil)
        #expect(try await world.waitingCount() == 0)
    }

    @Test("C8, scenario 15: Main is killed while an Executor waits: the Executor owns and fetches")
    func mainIsKilledWhileWaiting() async throws {
        let world = World()
        let main = try await world.main()
        try await main.participant.start()
        let executor = try await world.executor()
        let wait = executor.wait(for: "call-1")
        try await eventually("it is known to wait") { try await world.waitingCount() > 0 }
        main.process.kill()
        try await eventually("the Executor owns") { try await world.owner()?.role == .executor }
        world.server.receive(try .text("call-1"))

        #expect(try await wait.value.source == .core)
        let (report, _) = try await world.report()
        #expect(report.isClean, "\(report.violations)")
    }

    @Test("C8, scenario 15: Main stops while an Executor waits: the same")
    func mainStopsWhileWaiting() async throws {
        let world = World()
        let main = try await world.main()
        try await main.participant.start()
        let executor = try await world.executor()
        let wait = executor.wait(for: "call-1")
        try await eventually("it is known to wait") { try await world.waitingCount() > 0 }
        await main.participant.stop()
        world.server.receive(try .text("call-1"))

        #expect(try await wait.value.source == .core)
        #expect(await main.participant.waitUntilEnded() == .stopped)
        #expect(world.gauge.overlaps.isEmpty)
    }

    @Test("C9: what was stored before a call has heard of it starts no second core when the first one ends")
    func messageIsThereBeforeItsCallLooks() async throws {
        let clock = ManualClock()
        let world = World(clock: clock)
        let main = try await world.main()
        try await main.participant.start()
        let process = world.processes.start()
        let group = try await world.space.open(
            "group", as: SessionDescription(role: .executor, name: "slow"), process: process.identity)
        let callID = try CallID.of("call-1")
        let place = try Inbox(group).prefix(of: callID)
        let (lookCount, isHeld, goesOn) = (Box(0), Box(false), Promise<Void>())
        let store = InterposedStore(
            group,
            afterList: { prefix, _ in
                guard prefix == place else { return }
                let isNext = isHeld.update { isHeld in
                    defer { isHeld = false }
                    return isHeld
                }
                if isNext { await goesOn.pass() } else { lookCount.update { $0 += 1 } }
            })
        let executor = try ExecutorParticipant(
            of: store, options: world.options,
            environment: CoordinationEnvironment(
                clock: clock, processes: world.processes, witness: world.witness, seed: 7)
        ) {
            ScriptedCore(server: world.server, gauge: world.gauge, process: process, script: .init())
        }
        let wait = Task { try await executor.message(forCallID: callID, timeout: .seconds(3600)) }
        try await eventually("it waits for somebody's core") { lookCount.value >= 2 }

        // The result of its next periodic read is held back, so that it is outdated when it arrives.
        isHeld.update { $0 = true }
        try await eventually("it looks by itself") {
            clock.advance(by: .seconds(1))
            return goesOn.waiterCount == 1
        }
        let before = lookCount.value
        world.server.receive(try .text("call-1"))
        try await eventually("it is stored") { try await Inbox(group).state(of: callID) != .absent }
        await main.participant.stop()
        try await eventually("it has looked again, or owns") {
            let owner = try await world.owner()
            return lookCount.value > before || owner != nil
        }
        #expect(try await world.owner() == nil)
        goesOn.open()

        #expect(try await wait.value.source == .inbox)
        #expect(world.gauge.starts.count == 1)
    }

    @Test("C8: a core that is killed between the commit and its acknowledgement leaves the message with the server")
    func storeThenAcknowledge() async throws {
        let world = World()
        let gate = Promise<Void>()
        var script = ScriptedCore.Script()
        script.acknowledge = gate
        let main = try await world.main(script: script)
        try await main.participant.start()
        world.server.receive(try .text("call-1"))
        let observer = try await world.observer()
        try await eventually("it is committed") {
            try await Inbox(observer).state(of: .of("call-1")) != .absent
        }
        #expect(world.server.pending.count == 1)

        main.process.kill()
        gate.open()

        // The next core receives the message again: a duplicate that is stored once.
        let executor = try await world.executor()
        let answer = try await executor.participant.message(forCallID: .of("call-1"), timeout: .seconds(30))
        #expect(answer.source == .inbox)
        #expect(world.server.pending.count == 1)
        let other = Task {
            try await executor.participant.message(forCallID: .of("call-2"), timeout: .seconds(3600))
        }
        try await eventually("the duplicate is acknowledged to the server") { world.server.pending.isEmpty }
        if let taken = answer.taken { #expect(try await executor.participant.acknowledge(taken)) }
        other.cancel()
        _ = try? await other.value
    }

    @Test("C9, scenario 6: the second of two Executors needs no start when the first one's run has fetched its message")
    func secondMessageIsThereAlready() async throws {
        let world = World()
        world.server.receive(try .text("call-1", "first"))
        world.server.receive(try .text("call-2", "second"))
        let first = try await world.executor("first")
        _ = try await first.participant.message(forCallID: .of("call-1"), timeout: .seconds(30))
        await first.participant.finish()

        let second = try await world.executor("second")
        let answer = try await second.participant.message(forCallID: .of("call-2"), timeout: .seconds(30))

        #expect(answer.message == (try .text("call-2", "second")))
        #expect(answer.source == .inbox)
        #expect(await second.participant.coreStarts == 0)
        #expect(world.gauge.starts.count == 1)
    }

    @Test("C9: the core runs while a call waits, and stops when the last one is served")
    func coreRunsForOthers() async throws {
        let world = World()
        var script = ScriptedCore.Script()
        let fetching = Promise<Void>()
        script.fetch = fetching
        let first = try await world.executor("first", script: script)
        world.server.receive(try .text("call-1"))
        let fetch = Task {
            try await first.participant.message(forCallID: .of("call-1"), timeout: .seconds(3600))
        }
        try await eventually("the first owns") { try await world.owner()?.state == .running }
        let second = try await world.executor("second")
        let wait = second.wait(for: "call-2")
        try await eventually("both are known to wait") { try await world.waitingCount() == 2 }
        fetching.open()
        _ = try await fetch.value
        world.server.receive(try .text("call-2"))

        #expect(try await wait.value.source == .inbox)
        await first.participant.finish()
        #expect(world.gauge.running.isEmpty)
        #expect(world.gauge.starts.count == 1)
    }

    @Test("C9: at the end of its budget an Executor hands over to the next one that waits: one more start")
    func budgetEnds() async throws {
        let world = World()
        var short = CoordinationOptions.patient
        short.executorBudget = .milliseconds(300)
        let first = try await world.executor("first", options: short)
        let firstWait = Task {
            try await first.participant.message(forCallID: .of("call-1"), timeout: .seconds(3600))
        }
        try await eventually("the first one's core runs") { try await world.owner()?.state == .running }
        let second = try await world.executor("second")
        let secondWait = Task {
            try await second.participant.message(forCallID: .of("call-2"), timeout: .seconds(3600))
        }
        try await eventually("the second one's core runs") {
            let owner = try await world.owner()
            return owner?.name == "second" && owner?.state == .running
        }

        world.server.receive(try .text("call-1"))
        world.server.receive(try .text("call-2"))

        #expect(try await firstWait.value.source == .inbox)
        #expect(try await secondWait.value.source == .core)
        #expect(world.gauge.starts.count == 2)
        #expect(world.gauge.overlaps.isEmpty)
    }

    @Test("C7, C9: a wait that ends after the budget of the only core says so")
    func timeoutAfterBudget() async throws {
        let clock = ManualClock()
        let world = World(clock: clock)
        var short = CoordinationOptions.patient
        short.executorBudget = .seconds(2)
        let executor = try await world.executor(options: short)
        let isOver = Box(false)
        let wait = Task {
            defer { isOver.update { $0 = true } }
            return try await executor.participant.message(forCallID: .of("call-1"), timeout: .seconds(5))
        }
        try await eventually("its core runs") { try await world.owner()?.state == .running }
        try await eventually("its deadline has passed") {
            clock.advance(by: .milliseconds(50))
            return isOver.value
        }
        let error = await #expect(throws: CoordinationError.self) { try await wait.value }
        #expect(
            error?.code == .timeout && error?.message.contains("budget of 2.0 seconds") == true,
            "\(String(describing: error))")
        #expect(world.gauge.starts.count == 1)
    }

    @Test("C10: one acknowledged delivery each; a consumer killed before its acknowledgement gives the message back")
    func takenIsGivenBack() async throws {
        let world = World()
        let main = try await world.main()
        try await main.participant.start()
        world.server.receive(try .text("call-1"))
        let first = try await world.executor("first")
        let answer = try await first.participant.message(forCallID: .of("call-1"), timeout: .seconds(30))
        #expect(answer.taken != nil)
        let second = try await world.executor("second")
        let wait = second.wait(for: "call-1")
        try await eventually("the second waits for what is taken") { try await world.waitingCount() > 0 }

        first.process.kill()

        let again = try await wait.value
        let taken = try #require(again.taken)
        #expect(try await second.participant.acknowledge(taken))
        let third = try await world.executor("third")
        let after = try await third.participant.message(forCallID: .of("call-1"), timeout: .seconds(30))
        #expect(after.content == .nothingToShow)
        // A duplicate from the network, after the acknowledgement, is not stored again.
        world.server.receive(try .text("call-1"))
        try await eventually("the duplicate is acknowledged to the server") { world.server.pending.isEmpty }
        #expect(try await Inbox(world.observer()).state(of: .of("call-1")) == .acknowledged)
    }

    @Test("C10: a message that one participant gives back is taken by another")
    func givenBack() async throws {
        let world = World()
        let main = try await world.main()
        try await main.participant.start()
        world.server.receive(try .text("call-1"))
        let first = try await world.executor("first")
        let answer = try await first.participant.message(forCallID: .of("call-1"), timeout: .seconds(30))
        let taken = try #require(answer.taken)
        try await first.participant.giveBack(taken)

        let second = try await world.executor("second")
        let again = try await second.participant.message(forCallID: .of("call-1"), timeout: .seconds(30))

        #expect(again.message == taken.message)
        #expect(try await !first.participant.acknowledge(taken))
    }

    @Test("scenario 10: a call that an Executor cannot serve stays with the server, and Main gets it")
    func callIsLeftForMain() async throws {
        let world = World()
        let left = Promise<Void>()
        var script = ScriptedCore.Script()
        script.fetch = left
        world.server.receive(try .text("call-1"))
        let executor = try await world.executor(script: script)
        let wait = executor.wait(for: "call-1")
        try await eventually("its core runs") { try await world.owner()?.state == .running }
        let main = try await world.main()
        let start = Task { try await main.participant.start() }
        try await eventually("the Executor is told to stop") { try await world.owner()?.state == .stopping }
        left.open()

        try await start.value

        #expect(try await wait.value.source == .inbox)
        #expect(world.server.acknowledged == [try .of("call-1")])
    }

    @Test("C11, scenario 17: a kind of message without anything to show ends the wait at once")
    func nothingToShow() async throws {
        let world = World()
        world.server.receive(InboxMessage(callID: try .of("call-1"), content: .nothingToShow))
        let executor = try await world.executor()

        let answer = try await executor.participant.message(forCallID: .of("call-1"), timeout: .seconds(3600))

        #expect(answer.content == .nothingToShow)
        #expect(answer.source == .core)
    }

    @Test(
        "C12, scenario 7: an invitation goes the same way, from Main and from an Executor's own core",
        arguments: [true, false])
    func invitation(mainOwns: Bool) async throws {
        let world = World()
        let main = mainOwns ? try await world.main() : nil
        try await main?.participant.start()
        let room = InboxMessage(
            callID: try .of("sip:room@conference.example.org"),
            content: .invitation(from: "sip:a@example.org", subject: "lunch", localAddress: "sip:b@example.org"))
        let forRoom = try await world.executor("room")
        let forText = try await world.executor("text")
        async let roomAnswer = forRoom.participant.message(forCallID: room.callID, timeout: .seconds(3600))
        async let textAnswer = forText.participant.message(forCallID: .of("call-1"), timeout: .seconds(3600))
        world.server.receive(try .text("call-1"))
        world.server.receive(room)

        #expect(try await roomAnswer.message == room)
        #expect(try await textAnswer.message == (try .text("call-1")))
        #expect(world.gauge.starts.count == 1)
        await main?.participant.stop()
    }

    @Test("C13, scenario 14: what is stored between a look and the wait is noticed", arguments: 0..<40)
    func storedBetweenLookAndWait(round: Int) async throws {
        let world = World()
        let main = try await world.main()
        try await main.participant.start()
        let executor = try await world.executor()
        async let answer = executor.participant.message(forCallID: .of("call-1"), timeout: .seconds(3600))
        for _ in 0..<round { await Task.yield() }
        world.server.receive(try .text("call-1"))
        #expect(try await answer.message != nil)
    }

    @Test("scenario 16: what was received before its own push is never waited for")
    func receivedBeforeItsPush() async throws {
        let world = World()
        let main = try await world.main()
        try await main.participant.start()
        world.server.receive(try .text("call-1"))
        try await eventually("Main has stored it") { world.server.pending.isEmpty }
        await main.participant.stop()

        let executor = try await world.executor()
        let answer = try await executor.participant.message(forCallID: .of("call-1"), timeout: .seconds(30))

        #expect(answer.source == .inbox)
        #expect(world.gauge.starts.count == 1)
        #expect(try await world.waitingCount() == 0)
    }

    @Test("scenario 18: three waits are pending when Main starts; all three are served")
    func threeWaitWhenMainStarts() async throws {
        let world = World()
        let executors = try await [world.executor("one"), world.executor("two"), world.executor("three")]
        try await withThrowingTaskGroup(of: MessageResult.self) { group in
            for (number, executor) in executors.enumerated() {
                group.addTask {
                    try await executor.participant.message(forCallID: .of("call-\(number)"), timeout: .seconds(3600))
                }
            }
            try await eventually("all three wait") { try await world.waitingCount() == 3 }
            let main = try await world.main()
            try await main.participant.start()
            for number in 0..<3 { world.server.receive(try .text("call-\(number)")) }
            for try await answer in group { #expect(answer.source == .inbox) }
        }
        #expect(world.gauge.overlaps.isEmpty)
    }

    @Test("a core that cannot start gives up ownership, and a request that insists hears why")
    func failingCore() async throws {
        let world = World()
        var script = ScriptedCore.Script()
        script.failure = ScriptedCore.CoreFailure(description: "no network")
        let executor = try await world.executor(script: script)

        let error = await #expect(throws: CoordinationError.self) {
            try await executor.participant.message(forCallID: .of("call-1"), timeout: .seconds(30), insisting: true)
        }

        #expect(error?.code == .coreFailed)
        #expect(error?.message.contains("no network") == true)
        try await eventually("nobody owns") { try await world.owner() == nil }
        let main = try await world.main(script: script)
        let mainError = await #expect(throws: CoordinationError.self) { try await main.participant.start() }
        #expect(mainError?.code == .coreFailed)
        guard case .coreFailed = await main.participant.waitUntilEnded() else {
            Issue.record("a Main whose core failed has not ended so")
            return
        }
        let (report, _) = try await world.report()
        #expect(report.isClean, "\(report.violations)")
    }
}
