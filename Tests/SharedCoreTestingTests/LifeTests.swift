import Coordination
import CoreAPI
import SharedCoreTesting
import Testing

@Suite("When a simulated process lives, and how far it has come when it is killed")
struct LifeTests {
    private let group = SimulatedGroup()
    private let log = Log<Int>()

    @Test("A process that the test does not hold lives while its code runs: others see it, and it can be killed")
    func letGoWhileItRuns() async throws {
        let script = CoreScript()
        script.hang(at: .stop)
        let call = try await group.executor("push", script: script).message(forCallID: "1", timeout: .seconds(20))
        try await group.advance(until: "its core runs") { try await group.owner()?.state == .running }
        let owner = try #require(try await group.observer().sessions().first { $0.name == "push" }?.process)
        let app = try await group.main("app")
        #expect(await !app.process.environment.processes.isExiting(owner))
        try await app.start()
        await #expect(throws: ProcessKilled.self) { try await call.value }
        try await group.advance(by: .seconds(60))
        let timeline = try await group.timeline()
        try timeline.expect(("app", .asked), ("app", .killed), ("app", .acquired))
        try timeline.expectRulesHold()
    }

    @Test("A process with code that has ended lives while the test holds it, and no longer")
    func heldAfterItRan() async throws {
        let control = try await group.process(.tool, "other").environment.processes
        var process: SimulatedProcess? = try await group.process(.tool, "held")
        let identity = try #require(process?.identity)
        #expect(try await process?.run { 1 }.value == 1)
        #expect(await !control.isExiting(identity))
        #expect(await control.isStopped(identity) == false)
        process = nil
        try await eventually("it is gone") { await control.isExiting(identity) }
        let outcome = await control.kill(identity) { nil }
        #expect(outcome == .gone)
    }

    /// Goes a hundred steps without time passing.
    private func walk(in process: SimulatedProcess) {
        process.run { [group, log] in
            for number in 1...100 {
                log.add(number)
                await Task.yield()
            }
            try await group.clock.sleep(until: group.clock.now().advanced(by: .seconds(1)))
            log.add(101)
        }
    }

    @Test("Killed or frozen, it has come as far as it can without time passing, however lately it began")
    func exactly() async throws {
        for number in 1...20 {
            let process = try await group.process(.tool, "walking")
            walk(in: process)
            if number.isMultiple(of: 2) { await process.kill() } else { await process.freeze() }
            #expect(log.all.count == number * 100)
        }
        try await group.advance(by: .seconds(60))
        #expect(log.all.count == 2_000)
    }

    @Test("A process kills another, and itself")
    func byAnother() async throws {
        let one = try await group.process(.tool, "one")
        let other = try await group.process(.tool, "other")
        try await one.run { await other.kill() }.value
        #expect(other.isDead)
        await #expect(throws: ProcessKilled.self) { try await one.run { await one.kill() }.value }
    }
}
