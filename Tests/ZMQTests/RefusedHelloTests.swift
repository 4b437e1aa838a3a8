internal import CoreAPI
internal import CoreAPITesting
internal import Platform
internal import StoreEngine
internal import TestSupport
internal import Testing

@testable import ZMQBackend

extension ZMQTests {
    /// A known client that a hub does not admit again.
    @Suite("L1, C4: a client that is refused")
    struct RefusedHelloTests {
        private let hub: ScriptedHub
        private let link: HubLink
        private let stage: HubStage

        init() async throws {
            stage = try HubStage()
            hub = try ScriptedHub(at: stage.endpoint)
            let link = try HubLink(
                to: stage.endpoint, group: "group", as: SessionDescription(),
                options: ZMQGroupOptions(openTimeout: TestTimeout.usual, requestTimeout: TestTimeout.usual))
            self.link = link
            let joining = Task { _ = try await link.join() }
            try await hub.admit()
            let (question, _) = try await hub.nextCatchUp()
            hub.answer(question, .snapshot(hub.revision), records: try hub.state())
            try await withTimeout(TestTimeout.usual, "the join ends") { try await joining.value }
        }

        @Test("while the end of its session is being recorded, it asks again soon", arguments: [true, false])
        func asksAgainSoon(isProtected: Bool) async throws {
            let armed = FailPoint.arm(isProtected ? "" : "link.refusedPause:fail*")
            defer { armed.disarm() }
            let reading = Task { [link] in try await link.ask(.read) }
            let question = try await hub.next()
            hub.refusal = SharedCoreError(.unavailable, "Its end could not be recorded yet.", at: "hub")
            hub.answer(question, .unknown)
            let before = hub.hellos.count
            try await hub.serve(until: "it has asked three times") { hub.hellos.count >= before + 3 }
            if isProtected {
                try await hub.serve(until: "it asks again soon") { await link.greetingPause == .milliseconds(250) }
            } else {
                #expect(await link.greetingPause >= .seconds(2))
            }
            hub.refusal = SharedCoreError(.sessionEnded, "The session is over.", at: "hub")
            try await hub.serve(until: "it has heard of the end") { await link.isOver }
            try await expect(.sessionEnded, from: "what waited") { _ = try await reading.value }
        }

        @Test(
            "one that is there to close and is not let in ends, and does not ask for ever",
            arguments: [SharedCoreError.Code.forbidden, .incompatible], [true, false])
        func endsWhenForbidden(code: SharedCoreError.Code, isProtected: Bool) async throws {
            let armed = FailPoint.arm(isProtected ? "" : "link.refusedLeaving:fail*")
            defer { armed.disarm() }
            let closing = Task { [link] in await link.close() }
            let question = try await hub.nextClose()
            hub.refusal = SharedCoreError(code, "Not here.", at: "hub")
            hub.answer(question, .unknown)
            let before = hub.hellos.count
            if isProtected {
                try await hub.serve(until: "the client has ended") { await link.isOver }
                #expect(hub.hellos.count > before)
            } else {
                try await hub.serve(until: "it asks again and again") { hub.hellos.count >= before + 3 }
                #expect(await !link.isOver)
                hub.refusal = nil
                try await hub.serve(until: "the client has ended") { await link.isOver }
            }
            await closing.value
        }
    }
}
