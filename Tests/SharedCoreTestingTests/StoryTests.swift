import Coordination
import SharedCoreTesting
import Testing

@Suite("An application's story in memory")
struct StoryTests {
    @Test("C6, C8, C10: an Executor is pushed while Main is frozen, gets the message once, and Main owns again")
    func pushWhileMainIsFrozen() async throws {
        let group = SimulatedGroup()
        let app = try await group.main("app")
        try await app.start()
        await app.freeze()

        let push = try await group.executor("push")
        let call = push.message(forCallID: "1", deadline: .seconds(20))
        try group.server.receive("Lunch?", as: "1")
        let answer = try await call.value
        #expect(answer.text == "Lunch?")
        #expect(try await push.acknowledge(answer))

        await app.thaw()
        try await group.advance(until: "Main owns again") { try await group.owner()?.name == "app" }
        let again = try await group.executor("again").message(forCallID: "1", deadline: .seconds(20)).value
        #expect(again.text == nil)

        let timeline = try await group.timeline()
        try timeline.expect(
            ("app", .acquired), ("push", .challenged), ("push", .tookOver), ("push", .coreStarted), ("app", .fenced),
            ("app", .acquired))
        try timeline.expectRulesHold()
    }
}
