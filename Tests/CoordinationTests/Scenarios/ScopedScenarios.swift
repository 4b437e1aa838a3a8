import Coordination
import CoreAPI
import CoreAPITesting
import InMemoryBackend
import SharedCoreTesting
import TestSupport
import Testing

/// Participation for as long as a closure runs.
struct ScopedScenarios {
    private struct Refusal: Error {}

    private let world = World()

    private func open(_ role: SessionRole) async throws -> MemoryGroup {
        try await world.space.open("group", as: SessionDescription(role: role, name: "\(role)"))
    }

    private var environment: CoordinationEnvironment {
        CoordinationEnvironment(processes: world.processes, witness: world.witness, seed: 1)
    }

    private func core(_ script: ScriptedCore.Script = .init()) -> @Sendable () -> any Core {
        { [world] in
            ScriptedCore(server: world.server, gauge: world.gauge, process: world.processes.start(), script: script)
        }
    }

    /// There is no owner, no core runs, and the handle is closed.
    private func expectNothingLeft(of group: MemoryGroup, in other: World? = nil) async throws {
        let world = other ?? world
        #expect(try await world.owner() == nil)
        #expect(world.gauge.running.isEmpty)
        let error = await #expect(throws: SharedCoreError.self) { try await group.get("any") }
        #expect(error?.code == .closed)
    }

    @Test("an Executor finishes and closes when its body returns, and gives what that returned")
    func executorReturns() async throws {
        let group = try await open(.executor)
        world.server.receive(try .text("call-1"))
        let source = try await group.withExecutor(options: world.options, environment: environment, core: core()) {
            let answer = try await $0.message(forCallID: .of("call-1"), timeout: .seconds(60))
            if case .message(let taken) = answer.content { try await $0.acknowledge(taken) }
            return answer.source
        }
        #expect(source == .core)
        #expect(world.gauge.starts.count == 1)
        try await expectNothingLeft(of: group)
    }

    @Test("C9: an Executor whose message does not come in time finishes what another one waits for, and closes")
    func executorTimesOut() async throws {
        let clock = ManualClock()
        var options = CoordinationOptions.patient
        // The participant may take so long to hear of the other one, by a clock that stands still meanwhile.
        options.coreLinger = .seconds(1)
        let world = World(clock: clock, options: options)
        let group = try await world.space.open("group", as: SessionDescription(role: .executor, name: "late"))
        let environment = CoordinationEnvironment(clock: clock, processes: world.processes, seed: 1)
        let core: @Sendable () -> any Core = {
            ScriptedCore(server: world.server, gauge: world.gauge, process: world.processes.start(), script: .init())
        }
        let other = try await world.executor("other")
        let ran = Box(false)
        let ended = Box(false)
        let scope = Task {
            defer { ended.update { $0 = true } }
            try await group.withExecutor(options: options, environment: environment, core: core) { executor in
                defer { ran.update { $0 = true } }
                _ = try await executor.message(forCallID: .of("call-1"), timeout: .seconds(20))
            }
        }
        try await eventually("its core runs") { try await world.owner()?.state == .running }
        let wait = other.wait(for: "call-2")
        try await eventually("both wait") { try await world.waitingCount() == 2 }
        clock.advance(by: .seconds(21))
        try await eventually("it has thrown") { ran.value }
        world.server.receive(try .text("call-2"))

        #expect(try await wait.value.source == .inbox)
        try await eventually("it has finished") {
            clock.advance(by: .seconds(1))
            return ended.value
        }
        let error = await #expect(throws: CoordinationError.self) { try await scope.value }
        #expect(error?.code == .timeout)
        #expect(world.gauge.starts.count == 1)
        try await expectNothingLeft(of: group, in: world)
    }

    @Test("an Executor whose task is cancelled stops its core at once, and closes")
    func executorIsCancelled() async throws {
        let group = try await open(.executor)
        let scope = Task {
            try await group.withExecutor(options: world.options, environment: environment, core: core()) { executor in
                _ = try await executor.message(forCallID: .of("call-1"), timeout: .seconds(3600))
            }
        }
        try await eventually("its core runs") { try await world.owner()?.state == .running }

        scope.cancel()

        let error = await #expect(throws: CoordinationError.self) { try await scope.value }
        #expect(error?.code == .cancelled)
        try await expectNothingLeft(of: group)
    }

    @Test("a Main stops and closes when its body returns, throws, or is cancelled", arguments: 0..<3)
    func mainEnds(way: Int) async throws {
        let group = try await open(.main)
        let begun = Box(false)
        let scope = Task {
            try await group.withMain(options: world.options, environment: environment, core: core()) { main in
                #expect(await main.epoch != nil)
                begun.update { $0 = true }
                if way == 1 { throw Refusal() }
                if way == 2 { try await Task.sleep(for: .seconds(3600)) }
                return way
            }
        }
        try await eventually("it owns") { begun.value }
        if way == 2 { scope.cancel() }
        switch way {
        case 0: #expect(try await scope.value == 0)
        case 1: await #expect(throws: Refusal.self) { try await scope.value }
        default: await #expect(throws: CancellationError.self) { try await scope.value }
        }
        try await expectNothingLeft(of: group)
    }

    @Test("C8: a Main whose core is gone for good cancels its body and says why")
    func coreIsGone() async throws {
        let group = try await open(.main)
        var script = ScriptedCore.Script()
        script.endsByItself = true
        // A core that ends before the start has returned is an error of the start, and the body does not run.
        let hasBegun = Promise<Void>()
        script.fetch = hasBegun
        let wasCancelled = Box(false)
        let error = await #expect(throws: CoordinationError.self) {
            try await group.withMain(options: world.options, environment: environment, core: core(script)) { _ in
                hasBegun.open()
                do {
                    try await Task.sleep(for: .seconds(3600))
                } catch {
                    wasCancelled.update { $0 = true }
                    throw error
                }
            }
        }
        #expect(error?.code == .coreFailed)
        #expect(error?.message == "its core ended by itself")
        #expect(wasCancelled.value)
        try await expectNothingLeft(of: group)
    }

    @Test("C14: a Main that another one takes over from cancels its body and says so")
    func mainIsReplaced() async throws {
        let group = try await open(.main)
        let scope = Task {
            try await group.withMain(options: world.options, environment: environment, core: core()) { _ in
                try await Task.sleep(for: .seconds(3600))
            }
        }
        try await eventually("it owns") { try await world.owner()?.state == .running }
        let second = try await world.main("second")
        try await second.participant.start(takingOver: true)
        let error = await #expect(throws: CoordinationError.self) { try await scope.value }
        #expect(error?.code == .superseded)
        await second.participant.stop()
        try await expectNothingLeft(of: group)
    }

    @Test("a body may stop its own Main; a handle of another role is refused and closed")
    func edges() async throws {
        let group = try await open(.main)
        let value = try await group.withMain(options: world.options, environment: environment, core: core()) { main in
            await main.stop()
            return 7
        }
        #expect(value == 7)
        try await expectNothingLeft(of: group)
        let tool = try await open(.tool)
        let error = await #expect(throws: SharedCoreError.self) {
            try await tool.withMain(environment: environment, core: core()) { _ in }
        }
        #expect(error?.code == .invalidArgument)
        try await expectNothingLeft(of: tool)
    }
}
