import Coordination
import CoreAPI
import SharedCoreTesting
import Testing

@Suite("A scripted core does what the test says")
struct ScriptedCoreTests {
    private let group = SimulatedGroup()
    private let script = CoreScript()

    @Test("A scripted core fails to start, with the given reason, until the test ends that")
    func failsToStart() async throws {
        script.fail(at: .start, because: "the line is dead")
        let app = try await group.main("app", script: script)
        let error = await #expect(throws: CoordinationError.self) { try await app.start() }
        #expect(error?.code == .coreFailed)
        #expect(error?.message.contains("the line is dead") == true)
        script.fail(at: .start, because: nil)
        try await app.start()
        #expect(script.startCount == 2)
    }

    @Test("A scripted core hangs at each step until it is resumed", arguments: CoreStep.allCases)
    func hangs(moment: CoreStep) async throws {
        script.hang(at: moment)
        try group.server.receive("Lunch?", as: "1")
        let app = try await group.main("app", script: script)
        let start = app.starting()
        try await group.runUntilIdle()
        let stop = moment == .stop ? app.process.run { await app.participant.stop() } : nil
        try await group.advance(by: .seconds(2))
        #expect(script.isHanging(at: moment))
        #expect(start.isOver == (moment != .start))
        #expect(group.server.pending.isEmpty == (moment == .stop))
        if let stop { #expect(!stop.isOver) }

        script.resume(at: moment)
        try await group.runUntilIdle()
        #expect(!script.isHanging(at: moment))
        #expect(start.isOver)
        #expect(group.server.pending.isEmpty)
        if let stop { #expect(stop.isOver) }
    }

    @Test("A scripted core ends by itself when its server has no more messages")
    func endsByItself() async throws {
        script.endByItself()
        let app = try await group.main("app", script: script)
        try await app.start()
        let end = try await app.process.run { await app.participant.waitUntilEnded() }.value
        #expect(end == .coreFailed("its core ended by itself"))
    }

    @Test("C3: what it does at a moment is done as the core: a critical section that a Main waits for")
    func acts() async throws {
        script.act(at: .start) { [group] context in
            try await context.enterCriticalSection(maximumDuration: .seconds(3))
            try await group.clock.sleep(until: group.clock.now().advanced(by: .seconds(2)))
            try await context.leaveCriticalSection()
        }
        let push = try await group.executor("push", script: script)
        let call = push.message(forCallID: "1", timeout: .seconds(60))
        try await group.advance(until: "it is in its section") { script.startCount == 1 }
        let begin = group.clock.now()
        let app = try await group.main("app")
        try await app.start()
        #expect(begin.duration(to: group.clock.now()) == .seconds(2))
        #expect(!push.process.isDead)
        try group.server.receive("Lunch?", as: "1")
        #expect(try await call.value.text == "Lunch?")
    }

    @Test("The stop of a scripted core runs as the core, and its failure is reported")
    func actsAtItsStop() async throws {
        let app = try await group.main("app", script: script)
        script.act(at: .stop) { _ = try await $0.store.put("left", [1]) }
        try await app.start()
        try await app.stop()
        #expect(try await group.observer().get("left") != nil)
        script.fail(at: .stop, because: "the line is dead")
        let next = try await group.main("next", script: script)
        try await next.start()
        try await next.stop()
        let timeline = try await group.timeline()
        try timeline.expectNone(of: .overlap, .supersededOverlap)
        try timeline.expect(("app", .released), ("next", .acquired), ("next", .problem), ("next", .released))
        #expect(timeline.description.contains("the line is dead"))
    }

    @Test("A killed core does not hang")
    func killedWhileItHangs() async throws {
        script.hang(at: .fetch)
        let app = try await group.main("app", script: script)
        try await app.start()
        try await group.runUntilIdle()
        #expect(script.isHanging(at: .fetch))
        await app.kill()
        #expect(!script.isHanging(at: .fetch))
        let next = try await group.main("next", script: script)
        try await next.start()
        try await group.runUntilIdle()
        #expect(script.isHanging(at: .fetch))
    }

    @Test("An empty call-id is refused")
    func emptyCallID() async throws {
        #expect(throws: SharedCoreError.self) { try group.server.receive("Lunch?", as: "") }
        let push = try await group.executor("push")
        await #expect(throws: SharedCoreError.self) {
            try await push.message(forCallID: "", timeout: .seconds(1)).value
        }
    }
}
