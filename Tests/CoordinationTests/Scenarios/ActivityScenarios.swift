import Coordination
import CoreAPI
import CoreAPITesting
import InMemoryBackend
import SharedCoreTesting
import TestSupport
import Testing

/// Work in progress keeps a core, within its bounds.
@Suite(.serialized)
struct ActivityScenarios {
    /// An Executor with a core that begins activities, and the stop requests that the core received.
    private struct Busy {
        let executor: TestParticipant<ExecutorParticipant>
        let wait: Task<MessageResult, any Error>
        let context: CoreContext
        let activities: [OpenActivity]
        let requests: Box<[StopRequest]>
    }

    private func busy(
        in world: World, with kinds: [Activity.Kind], waitingFor callID: String = "call-1"
    ) async throws -> Busy {
        let contexts = Box<[CoreContext]>([])
        let open = Box<[OpenActivity]>([])
        let requests = Box<[StopRequest]>([])
        var script = ScriptedCore.Script()
        script.onStart = { context in
            for (number, kind) in kinds.enumerated() {
                let activity = try await context.begin(kind, id: "\(number)", expectedEnd: .seconds(60))
                open.update { $0.append(activity) }
            }
            contexts.update { $0.append(context) }
        }
        script.onStop = { request in requests.update { $0.append(request) } }
        let executor = try await world.executor(script: script)
        let wait = executor.wait(for: callID)
        try await eventually("the Executor is busy") { try await world.owner()?.state == .running }
        return Busy(
            executor: executor, wait: wait, context: try #require(contexts.value.first), activities: open.value,
            requests: requests)
    }

    private func end(_ busy: Busy) async {
        busy.wait.cancel()
        _ = try? await busy.wait.value
        await busy.executor.participant.close()
    }

    @Test("C17, C18: a Main waits for a busy Executor and hears why; then the core is told of the hand-over")
    func mainWaits() async throws {
        let world = World()
        let busy = try await busy(in: world, with: [.call])
        let owner = try #require(try await world.owner())
        let main = try await world.main()
        let heard = Box<[OwnershipWaitReason]>([])
        let start = Task { try await main.participant.start { reason in heard.update { $0.append(reason) } } }

        try await eventually("Main hears of the call") {
            heard.value.last
                == .activity(busy.activities.map(\.activity), of: owner, atMost: .seconds(4 * 3600 + 60))
        }
        #expect(heard.value.last?.describe().contains("busy with call “0”") == true)
        // Main reports its wait when it is about to ask.
        try await eventually("Main has asked") { try await world.report().entries.contains { $0.kind == .asked } }
        // While a Main waits, no new activity begins; an open one can be begun again.
        let refusal = await #expect(throws: SharedCoreError.self) {
            try await busy.context.begin(.transfer, id: "photo-17")
        }
        #expect(refusal?.code == .guardFailed)
        #expect(refusal?.message == "A Main waits for this core: it begins no activity any more.")
        #expect(try await busy.context.begin(.call, id: "0").activity == busy.activities.first?.activity)
        #expect(try await world.owner()?.state == .running)
        #expect(busy.requests.value.isEmpty)

        try await busy.activities.first?.end()

        try await start.value
        #expect(busy.requests.value == [StopRequest(.handover, by: "main", within: world.options.stopTimeout)])
        #expect(world.processes.killed.isEmpty)
        let (report, _) = try await world.report()
        #expect(report.isClean, "\(report.violations)")
        await end(busy)
    }

    @Test("C17, C18: of three activities one never ends: Main gets in when its bound has passed")
    func oneNeverEnds() async throws {
        let world = World()
        let busy = try await busy(
            in: world, with: [.call, .custom("index", bound: .seconds(1)), .custom("scan", bound: .seconds(2))])
        let main = try await world.main()
        let start = Task { try await main.participant.start() }
        try await eventually("Main has asked") { try await world.report().entries.contains { $0.kind == .asked } }

        try await busy.activities[0].end()
        try await busy.activities[1].end()
        try await busy.activities[1].end()

        try await start.value
        let request = try #require(busy.requests.value.first)
        #expect(request.reason == .bound)
        #expect(request.activity?.kind.name == "scan")
        #expect(world.processes.killed.isEmpty)
        let stopped = try #require(try await world.report().entries.first { $0.to == .stopping })
        #expect(try #require(request.activity).latestEnd <= stopped.at)
        await end(busy)
    }

    @Test("C17, C18: a Main that waits may come to insist; the core is told so, and stops")
    func mainInsists() async throws {
        let world = World()
        let busy = try await busy(in: world, with: [.call])
        let main = try await world.main()
        let heard = Box<[OwnershipWaitReason]>([])
        let start = Task { try await main.participant.start { reason in heard.update { $0.append(reason) } } }
        try await eventually("Main waits for the call") {
            if case .activity = heard.value.last { true } else { false }
        }

        try await main.participant.start(insisting: true)

        try await start.value
        #expect(busy.requests.value == [StopRequest(.insisted, by: "main", within: world.options.stopTimeout)])
        #expect(world.processes.killed.isEmpty)
        await end(busy)
    }

    @Test("C17, C6: a busy Executor that is frozen is killed with any activity open")
    func frozen() async throws {
        let world = World(options: HandoverScenarios.brisk)
        let busy = try await busy(in: world, with: [.call])
        busy.executor.process.freeze()
        let main = try await world.main()

        try await main.participant.start()

        #expect(world.processes.killed == [busy.executor.process.identity])
        busy.executor.process.thaw()
        busy.wait.cancel()
        _ = try? await busy.wait.value
    }

    @Test("C17, C9: an Executor's core goes on while an activity is open, though every call is served")
    func executorGoesOn() async throws {
        var options = CoordinationOptions.patient
        options.coreLinger = .milliseconds(1)
        let world = World(options: options)
        world.server.receive(try .text("call-1"))
        let busy = try await busy(in: world, with: [.transfer])
        let answer = try await busy.wait.value
        #expect(answer.message?.callID.text == "call-1")
        // A push that comes later finds the core running.
        world.server.receive(try .text("call-2"))
        let later = try await world.executor("later")
        let second = try await later.participant.message(forCallID: .of("call-2"), timeout: .seconds(60))
        #expect(second.source == .inbox)
        #expect(busy.requests.value.isEmpty)

        try await busy.activities.first?.end()

        await busy.executor.participant.finish()
        #expect(busy.requests.value == [StopRequest(.served, within: world.options.stopTimeout)])
        #expect(world.gauge.starts.count == 1)
        await later.participant.close()
    }

    @Test("C17, C9: an Executor does not stop a core that is beginning an activity, and one that stops begins none")
    func beginsAsTheLastCallIsServed() async throws {
        var options = CoordinationOptions.patient
        options.coreLinger = .seconds(1)
        let clock = ManualClock()
        let world = World(clock: clock, options: options)
        let process = world.processes.start()
        let group = try await world.space.open(
            "group", as: SessionDescription(role: .executor, name: "that begins late"), process: process.identity)
        let (isBeginning, gate) = (Box(false), Promise<Void>())
        let store = InterposedStore(group) { transaction throws(SharedCoreError) in
            let begins = transaction.operations.contains { operation in
                if case .put(".sharedcore/ownership/activities", _, _) = operation { true } else { false }
            }
            if begins {
                isBeginning.update { $0 = true }
                await gate.pass()
            }
            return transaction
        }
        let contexts = Box<[CoreContext]>([])
        let requests = Box<[StopRequest]>([])
        let mayStop = Promise<Void>()
        var script = ScriptedCore.Script()
        script.onStart = { context in contexts.update { $0.append(context) } }
        script.onStop = { request in requests.update { $0.append(request) } }
        script.stop = mayStop
        let environment = CoordinationEnvironment(clock: clock, processes: world.processes, seed: 7)
        let executor = try ExecutorParticipant(of: store, options: options, environment: environment) { [script] in
            ScriptedCore(server: world.server, gauge: world.gauge, process: process, script: script)
        }
        let wait = Task { try await executor.message(forCallID: .of("call-1"), timeout: .seconds(3600)) }
        try await eventually("the core runs") { try await world.owner()?.state == .running }
        let context = try #require(contexts.value.first)
        let begin = Task { try await context.begin(.transfer, id: "photo") }
        try await eventually("the core begins it") { isBeginning.value }
        world.server.receive(try .text("call-1"))
        _ = try await wait.value
        // Long after the last call was served, and longer than the store may be silent for.
        func goOn() async throws {
            for _ in 0..<50 {
                clock.advance(by: .milliseconds(100))
                for _ in 0..<10 { _ = await executor.coreStarts }
            }
        }
        try await goOn()
        #expect(requests.value.isEmpty)

        gate.open()

        let activity = try await begin.value
        try await goOn()
        #expect(requests.value.isEmpty)
        #expect(try await world.owner()?.state == .running)
        try await activity.end()
        try await eventually("the core is told to stop") {
            clock.advance(by: .milliseconds(100))
            return !requests.value.isEmpty
        }
        let refusal = await #expect(throws: SharedCoreError.self) { try await context.begin(.call, id: "late") }
        #expect(refusal?.code == .guardFailed)
        #expect(try await world.observer().get(".sharedcore/ownership/activities") == nil)
        mayStop.open()
        await executor.close()
        #expect(requests.value.map(\.reason) == [.served])
    }

    @Test("C17: 16 activities of an owner are open at once, begun by any means; bad ones are refused")
    func limits() async throws {
        let world = World()
        let busy = try await busy(in: world, with: [])
        let context = busy.context
        let good: [(Activity.Kind, String)] = [
            (.custom("x", bound: .seconds(1)), "a"),
            (
                .custom(String(repeating: "x", count: 64), bound: .seconds(3600)), String(repeating: "é", count: 64)
            ),
        ]
        for (kind, id) in good { try await context.begin(kind, id: id).end() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<16 { group.addTask { _ = try await context.begin(.transfer, id: "\(number)") } }
            try await group.waitForAll()
        }
        let refusal = await #expect(throws: SharedCoreError.self) { try await context.begin(.call, id: "17") }
        #expect(refusal?.code == .limitExceeded)

        let bad: [(Activity.Kind, String)] = [
            (.call, ""), (.call, String(repeating: "x", count: 129)), (.call, String(repeating: "é", count: 65)),
            (.custom("", bound: .seconds(1)), "a"),
            (.custom("call", bound: .seconds(1)), "a"), (.custom("work", bound: .milliseconds(999)), "a"),
            (.custom("work", bound: .seconds(3601)), "a"),
            (.custom(String(repeating: "x", count: 65), bound: .seconds(1)), "a"),
        ]
        for (kind, id) in bad {
            let error = await #expect(throws: SharedCoreError.self) { try await context.begin(kind, id: id) }
            #expect(error?.code == .invalidArgument)
        }
        await end(busy)
    }

    @Test("C17, C5: activities end with the ownership, and no superseded core begins or ends one")
    func endWithTheOwnership() async throws {
        let world = World()
        let busy = try await busy(in: world, with: [.call])
        let observer = try await world.observer()
        #expect(try await observer.get(".sharedcore/ownership/activities") != nil)

        await end(busy)

        #expect(try await observer.get(".sharedcore/ownership/activities") == nil)
        #expect(busy.requests.value.map(\.reason) == [.closing])
        let refusal = await #expect(throws: SharedCoreError.self) {
            try await busy.context.begin(.transfer, id: "late")
        }
        #expect(refusal?.code == .guardFailed)
        // To end an activity that ended with its epoch is no error.
        try await busy.activities.first?.end()
    }
}
