import Coordination
import CoreAPI
import InMemoryBackend
import Lifecycle
import TelephoneServer
import Telephony
import Testing

/// A core of which no test starts one.
private struct UnwantedCore: Core {
    func start(in context: CoreContext) async throws { Issue.record("another core starts") }
    func iterate(in context: CoreContext) async throws {}
    func stop() async {}
}

@Suite("With other processes of the application", .timeLimit(.minutes(5)))
struct SharingTests {
    private let asleep = LifecyclePosition(.suspended, .connected)

    @Test("C26: a call in another process wakes it and keeps it awake; both get on with one core and one connection")
    func callWakes() async throws {
        let stage = try await Stage()
        try await stage.reach(asleep)
        let accepted = stage.server.accepted
        let handle = try await stage.space.open("telephone", as: SessionDescription(role: .executor))
        let executor = try ExecutorParticipant(of: handle) { UnwantedCore() }
        let callID = try #require(CallID("text-1"))
        let call = Task { try await executor.message(forCallID: callID, timeout: .seconds(60)) }
        try await stage.eventually("the wake is traced") {
            await stage.life.runner.trace.contains { $0.number == .t11 && $0.event == .dataOnKeptSocket }
        }
        await stage.life.runner.settle()
        #expect(await stage.life.runner.position == LifecyclePosition(.background, .connected))
        try stage.server.send(text: "Lunch?")
        let result = try await call.value
        #expect(result.source == .inbox)
        switch result.content {
        case .message(let taken):
            #expect(taken.message.content.text == "Lunch?")
            try await executor.acknowledge(taken)
        // Then the telephone was faster, and has shown it.
        case .nothingToShow: #expect(await stage.telephone.screen.contains("alert: Lunch?"))
        default: Issue.record("\(result)")
        }
        try await stage.after(.t6) { await stage.bring(to: .suspended) }
        #expect(await stage.telephone.main.isAtRest)
        #expect(await stage.telephone.main.coreStarts == 1)
        #expect(await executor.coreStarts == 0)
        #expect(stage.server.accepted == accepted)
        await executor.close()
        await stage.life.close()
    }

    @Test("Without a holder it gives the ownership up for its sleep, and owns again when the user is back")
    func withoutHolder() async throws {
        let stage = try await Stage(hasHolder: false)
        try await stage.reach(asleep)
        #expect(try await GroupOwner.current(in: stage.group) == nil)
        #expect(await !stage.telephone.client.isConnected)
        try await stage.after(.t16) { await stage.bring(to: .foreground) }
        #expect(try await GroupOwner.current(in: stage.group)?.session == stage.group.session.id)
        #expect(await stage.telephone.main.coreStarts == 2)
        #expect(stage.server.takeRequests().first == "REGISTER")
        await stage.life.close()
    }

    @Test("C26: when its holder ends, it owns anew with another core, and registers when the user is back")
    func holderEnds() async throws {
        let stage = try await Stage()
        try await stage.reach(asleep)
        let epoch = try #require(await stage.telephone.main.epoch)
        await stage.holderGroup?.close()
        try await stage.eventually("another core runs") { await stage.telephone.main.coreStarts == 2 }
        #expect(try #require(await stage.telephone.main.epoch) > epoch)
        try await stage.after(.t16) { await stage.bring(to: .foreground) }
        #expect(stage.server.takeRequests().first == "REGISTER")
        #expect(await stage.telephone.client.isConnected)
        await stage.life.close()
    }
}
