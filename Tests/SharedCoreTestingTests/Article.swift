import Coordination
import CoreAPI
import Platform
import SharedCoreTesting
import Testing

@Suite("C6, C8, C10: the code of the article “Testing your application”")
struct ArticleCode {
    @Test func aPushIsServedWhileMainIsFrozen() async throws {
        let group = SimulatedGroup()
        let app = try await group.main("app")
        try await app.start()
        await app.freeze()

        let push = try await group.executor("push")
        let call = push.message(forCallID: "1", timeout: .seconds(20))
        try group.server.receive("Lunch?", as: "1")
        let answer = try await call.value
        #expect(answer.text == "Lunch?")
        #expect(try await push.acknowledge(answer))

        await app.thaw()
        try await group.advance(until: "Main owns again") { try await group.owner()?.name == "app" }
        let again = try await group.executor("again").message(forCallID: "1", timeout: .seconds(20)).value
        #expect(again.text == nil)

        let timeline = try await group.timeline()
        try timeline.expect(
            ("app", .acquired), ("push", .challenged), ("push", .tookOver), ("push", .coreStarted), ("app", .fenced),
            ("app", .acquired))
        try timeline.expectRulesHold()
    }

    @Test func aMessageIsFoundWithinFiveSeconds() async throws {
        let group = SimulatedGroup()
        let core = { @Sendable in PollingCore(server: group.server, clock: group.clock) }
        let app = try await group.main("app", core: core)
        try await app.start()

        try group.server.receive("Lunch?", as: "1")
        try await group.advance(by: .seconds(5))
        #expect(group.server.pending.isEmpty)
    }

    @Test func aPushProgramShowsItsMessage() async throws {
        let group = SimulatedGroup()
        let core = { @Sendable in PollingCore(server: group.server, clock: group.clock) }
        let push = try await group.process(.executor, "push")
        let callID = try #require(CallID("1"))
        let shown = push.run {
            try await PushProgram(group: push.group, environment: push.environment, core: core).show(callID)
        }
        try await group.advance(by: .seconds(3))
        #expect(!shown.isOver)

        try group.server.receive("Lunch?", as: "1")
        #expect(try await shown.value == "Lunch?")
    }

    @Test func aMainComesWhoeverHoldsOn() async throws {
        let group = SimulatedGroup()
        let script = CoreScript()
        script.hang(at: .stop)
        let push = try await group.executor("push", script: script)
        let call = push.message(forCallID: "1", timeout: .seconds(20))
        try await group.advance(until: "its core runs") { try await group.owner()?.state == .running }

        let app = try await group.main("app")
        try await app.start()
        try await group.timeline().expect(("app", .asked), ("app", .killed), ("app", .acquired))
        await #expect(throws: ProcessKilled.self) { try await call.value }
    }
}

/// A core that asks its server every five seconds.
struct PollingCore: Core {
    let server: ScriptedServer
    var clock: any TimeSource = SystemClock()

    func start(in context: CoreContext) async throws {}

    func iterate(in context: CoreContext) async throws {
        while true {
            for message in server.pending {
                try await context.deliver(message)
                server.acknowledge(message.callID)
            }
            try await clock.sleep(until: clock.now().advanced(by: .seconds(5)))
        }
    }

    func stop() async {}
}
