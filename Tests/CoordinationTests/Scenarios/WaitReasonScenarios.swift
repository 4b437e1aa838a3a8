import Coordination
import CoreAPI
import CoreAPITesting
import InMemoryBackend
import SharedCoreTesting
import TestSupport
import Testing

/// A caller that waits for the core hears why.
@Suite(.serialized)
struct WaitReasonScenarios {
    @Test("C3: a Main that starts hears of the critical section, of the hand-over and of its own core's start")
    func mainHearsOfTheHandover() async throws {
        let world = World()
        let work = Promise<Void>()
        let stop = Promise<Void>()
        var script = ScriptedCore.Script()
        script.stop = stop
        script.onStart = { context in
            try await context.enterCriticalSection(maximumDuration: .seconds(10))
            await work.pass()
            try await context.leaveCriticalSection()
        }
        let executor = try await world.executor(script: script)
        let wait = executor.wait(for: "call-1")
        let observer = try await world.observer()
        try await eventually("the Executor is in its section") {
            try await observer.get(".sharedcore/ownership/critical") != nil
        }
        let owner = try #require(try await world.owner())
        let main = try await world.main()
        let heard = Box<[OwnershipWaitReason]>([])
        let start = Task {
            try await main.participant.start { reason in heard.update { $0.append(reason) } }
        }

        try await eventually("Main hears of the section") {
            heard.value.last == .criticalSection(of: owner, timeout: .seconds(70))
        }
        work.open()
        try await eventually("Main hears that the owner stops") {
            if case .handover(let owner, .seconds(70)) = heard.value.last { owner.state == .stopping } else { false }
        }
        stop.open()

        try await start.value
        #expect(heard.value.last == .coreStart)
        #expect(zip(heard.value, heard.value.dropFirst()).allSatisfy { $0 != $1 })
        wait.cancel()
        _ = try? await wait.value
    }

    @Test("C3: a Main hears that the owner is killed, and C14 that another Main comes first")
    func mainHearsOfTheKill() async throws {
        let world = World(options: HandoverScenarios.brisk)
        let executor = try await world.executor()
        let wait = executor.wait(for: "call-1")
        try await eventually("the Executor owns") { try await world.owner()?.state == .running }
        executor.process.freeze()
        let main = try await world.main()
        let heard = Box<[OwnershipWaitReason]>([])

        try await main.participant.start { reason in heard.update { $0.append(reason) } }

        #expect(heard.value.contains { if case .handover = $0 { true } else { false } })
        #expect(heard.value.contains { if case .end = $0 { true } else { false } }, "\(heard.value)")
        _ = try? await wait.value
    }

    @Test("C8: an Executor that waits hears which session owns, and when it is its own core's turn")
    func executorHearsOfTheOwner() async throws {
        let world = World()
        let main = try await world.main()
        try await main.participant.start()
        let owner = try #require(try await world.owner())
        let executor = try await world.executor()
        let heard = Box<[OwnershipWaitReason]>([])
        let wait = Task {
            try await executor.participant.message(forCallID: .of("call-1"), timeout: .seconds(3600)) { reason in
                heard.update { $0.append(reason) }
            }
        }
        try await eventually("it hears who owns") {
            heard.value.contains { reason in
                switch reason {
                case .owner(let found), .answer(let found): found.epoch == owner.epoch && found.state == .running
                default: false
                }
            }
        }
        await main.participant.stop()
        try await eventually("it hears that its own core starts") { heard.value.contains(.coreStart) }
        world.server.receive(try .text("call-1"))
        #expect(try await wait.value.source == .core)
    }
}
