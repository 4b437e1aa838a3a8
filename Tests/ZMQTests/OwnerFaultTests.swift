internal import Coordination
internal import CoreAPI
internal import CoreAPITesting
internal import Mailboxes
internal import Platform
internal import Replica
internal import StoreEngine
internal import TestSupport
internal import Testing

@testable import ZMQBackend

extension ZMQTests {
    /// An owner that cannot follow its store any more: another participant owns as soon as its session has ended.
    @Suite("C4: an owner with a fault")
    struct OwnerFaultTests {
        /// How long the hub waits for messages that must not come.
        private static let silence = Duration.milliseconds(300)

        @Test("its core has stopped before its session is closed", arguments: [true, false])
        func damagedNews(isProtected: Bool) async throws {
            let stage = try HubStage()
            let hub = try ScriptedHub(at: stage.endpoint)
            let opening = Task {
                try await ZMQGroup.open(
                    stage.endpoint, group: "group", as: SessionDescription(role: .main),
                    options: ZMQGroupOptions(openTimeout: TestTimeout.usual, requestTimeout: TestTimeout.usual))
            }
            try await hub.admit()
            let (question, _) = try await hub.nextCatchUp()
            hub.answer(question, .snapshot(hub.revision), records: try hub.state())
            let client = try await withTimeout(TestTimeout.usual, "the join ends") { try await opening.value }

            let core = HeldCore()
            let main = try MainParticipant(of: client, options: CoordinationOptions(stopTimeout: .seconds(120))) {
                core
            }
            let starting = Task { try await main.start() }
            try await hub.serve(until: "its core runs") { await main.epoch != nil && core.isRunning.isRaised }
            try await hub.serve(until: "the start has returned") { await main.coreStarts == 1 }
            let armed = FailPoint.arm(isProtected ? "" : "link.faultCloses:fail")
            defer { armed.disarm() }
            var updates = Updates(after: hub.revision)
            updates.effects = [[0xFF]]
            hub.publish(updates)
            let ending = Task {
                let end = await main.waitUntilEnded()
                await main.stop()
                await client.close()
                return end
            }
            if isProtected {
                try await eventually("its core is told to stop") { core.isStopping.isRaised }
                let limit = SystemClock().now().advanced(by: Self.silence)
                while SystemClock().now() < limit {
                    if let early = try await hub.receive(), case .close = early.request.body {
                        Issue.record("it closes while its core runs")
                    }
                    try await Task.sleep(for: .milliseconds(10))
                }
                core.mayStop.raise()
            }
            let close = try await hub.nextClose()
            #expect(core.hasStopped.isRaised == isProtected)
            hub.answer(close, .done)
            core.mayStop.raise()
            #expect(
                try await withTimeout(TestTimeout.usual, "the owner has left") { await ending.value } == .sessionEnded)
            #expect(core.hasStopped.isRaised)
            _ = await starting.result
        }
    }

    /// A core that stops when the test permits it.
    private struct HeldCore: Core {
        let isRunning = OneWayFlag()
        let isStopping = OneWayFlag()
        let mayStop = OneWayFlag()
        let hasStopped = OneWayFlag()

        func start(in context: CoreContext) async throws { isRunning.raise() }

        func iterate(in context: CoreContext) async throws {
            while true { try await Task.sleep(for: .seconds(60)) }
        }

        func stop() async {
            isStopping.raise()
            while !mayStop.isRaised { try? await Task.sleep(for: .milliseconds(5)) }
            hasStopped.raise()
        }
    }
}
