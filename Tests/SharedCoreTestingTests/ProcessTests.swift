import Coordination
import CoreAPI
import SharedCoreTesting
import Testing

@Suite("Simulated processes are killed and frozen as the system does it")
struct ProcessTests {
    private let group = SimulatedGroup()
    private let log = Log<Int>()

    /// Counts the seconds in a process.
    private func count(in process: SimulatedProcess) -> SimulatedRun<Void> {
        process.run { [group, log] in
            for number in 1...3 {
                try await group.clock.sleep(until: group.clock.now().advanced(by: .seconds(1)))
                log.add(number)
            }
        }
    }

    @Test("A frozen one goes no step further, its session stands, and it goes on where it was")
    func freeze() async throws {
        let process = try await group.process(.tool, "frozen")
        let counting = count(in: process)
        try await group.advance(by: .milliseconds(1_500))
        await process.freeze()
        #expect(process.isFrozen)
        try await group.advance(by: .seconds(60))
        #expect(log.all == [1])
        #expect(try await group.observer().sessions().contains { $0.process == process.identity })
        await process.thaw()
        try await counting.value
        #expect(log.all == [1, 2, 3])
    }

    @Test("S5: a frozen process that continues sees all changes made meanwhile")
    func frozenWatch() async throws {
        let process = try await group.process(.tool, "frozen")
        let watch = try await process.group.watch(["key"], from: .now)
        let run = process.run { try await watch.next()?.revision }
        try await group.runUntilIdle()
        await process.freeze()
        let commit = try await group.observer().put("key", [1])
        try await group.advance(by: .seconds(60))
        #expect(!run.isOver)
        await process.thaw()
        #expect(try await run.value == commit.revision)
    }

    @Test("L1: a killed one goes no step further, what runs in it ends with an error, and its session is over")
    func kill() async throws {
        let process = try await group.process(.tool, "killed")
        try await process.run { _ = try await process.group.put("presence", [1], lifetime: .session) }.value
        let counting = count(in: process)
        try await group.advance(by: .milliseconds(1_500))
        await process.kill()
        #expect(process.isDead)
        let error = await #expect(throws: ProcessKilled.self) { try await counting.value }
        #expect(error?.name == "killed")
        try await group.advance(by: .seconds(60))
        #expect(log.all == [1])
        let observer = try await group.observer()
        #expect(try await observer.get("presence") == nil)
        #expect(try await !observer.sessions().contains { $0.process == process.identity })
        await #expect(throws: ProcessKilled.self) { try await process.run { 1 }.value }
    }

    @Test("C8: a core killed between storing and acknowledging leaves the message with the server, and it comes once")
    func killedCore() async throws {
        let script = CoreScript()
        script.hang(at: .acknowledge)
        let app = try await group.main("app", script: script)
        try await app.start()
        try group.server.receive("Lunch?", as: "1")
        try await group.advance(until: "it is stored") { script.isHanging(at: .acknowledge) }
        await app.kill()
        script.resume(at: .acknowledge)
        try await group.runUntilIdle()
        #expect(group.server.pending.count == 1)

        let push = try await group.executor("push")
        let answer = try await push.message(forCallID: "1", timeout: .seconds(20)).value
        #expect(answer.text == "Lunch?")
        #expect(answer.source == .inbox)
        try await push.acknowledge(answer)
        let again = try await group.main("again")
        try await again.start()
        try await group.advance(until: "the server has heard of it") { group.server.pending.isEmpty }
        #expect(group.server.acknowledged.count == 1)
        let late = try await group.executor("late")
        #expect(try await late.message(forCallID: "1", timeout: .seconds(20)).value.text == nil)
        try await group.timeline().expectRulesHold()
    }

    @Test("C15: what a killed process held of the witness is given back")
    func killedCoreIsNoOverlap() async throws {
        let app = try await group.main("app")
        try await app.start()
        await app.kill()
        let next = try await group.main("next")
        try await next.start()
        try await group.advance(by: .seconds(60))
        let timeline = try await group.timeline()
        try timeline.expectNone(of: .overlap, .supersededOverlap, .problem)
        try timeline.expect(("app", .acquired), ("next", .acquired), ("next", .coreStarted))
    }

    @Test("C3: a Main kills an Executor whose core does not stop in its bound, and owns")
    func killedByMain() async throws {
        let script = CoreScript()
        script.hang(at: .stop)
        let push = try await group.executor("push", script: script)
        let call = push.message(forCallID: "1", timeout: .seconds(20))
        try await group.advance(until: "its core runs") { try await group.owner()?.state == .running }
        let start = group.clock.now()
        let app = try await group.main("app")
        try await app.start()
        #expect(push.process.isDead)
        #expect(start.duration(to: group.clock.now()) == .seconds(5))
        await #expect(throws: ProcessKilled.self) { try await call.value }
        try await group.timeline().expect(("app", .asked), ("app", .killed), ("app", .acquired))
    }
}
