internal import CoreAPI
internal import CoreAPITesting
internal import Glibc
internal import InMemoryBackend
internal import Replica
internal import StoreEngine
internal import TestSupport
internal import Testing

@testable import ZMQBackend

extension ZMQTests {
    /// A process that goes on, and of which a participant leaves while no hub can be told.
    @Suite("L1: leaving without a hub")
    struct LeavingTests {
        @Test("of two groups of a process, one closes after its hub was killed: the next hub ends that session alone")
        func closedWithoutHub() async throws {
            let stage = try HubStage()
            let first = try await stage.hubProcess()
            let (leaving, staying) = (try await stage.client(), try await stage.client())
            try await leaving.put("mine", [1], lifetime: .session)
            first.process.signal(SIGKILL)
            _ = await first.process.end()
            await leaving.close()

            let second = try await stage.hubProcess()
            try await eventually("the session that was closed is over") {
                try await staying.sessions().map(\.id) == [staying.session.id]
            }
            #expect(try await staying.get("mine") == nil)
            await staying.close()
            second.process.signal(SIGKILL)
            _ = await second.process.end()
        }

        @Test("a hub that stands still while a client closes, and is killed, is followed by one that hears of it")
        func closedBeforeFrozenHub() async throws {
            let stage = try HubStage()
            let first = try await stage.hubProcess()
            let (leaving, staying) = (try await stage.client(), try await stage.client())
            first.process.signal(SIGSTOP)
            try await eventually("the hub stands still") { first.process.isStopped }
            await leaving.close()
            first.process.signal(SIGKILL)
            _ = await first.process.end()
            let second = try await stage.hubProcess()
            try await eventually("the session that was closed is over") {
                try await staying.sessions().map(\.id) == [staying.session.id]
            }
            await staying.close()
            second.process.signal(SIGKILL)
            _ = await second.process.end()
        }

        @Test("a join that was given up before its welcome leaves no session to a hub that answers late")
        func givenUpBeforeWelcome() async throws {
            let stage = try HubStage()
            let order = HeldOrder(MemorySpace().order(of: "group", effectByteCount: 1 << 20))
            let service = try HubService(
                order: order,
                options: HubOptions(group: "group", storage: .memory(MemorySpace()), endpoints: [stage.endpoint]))
            _ = try await service.start()
            order.hold()
            let opening = Task { try await stage.client { $0.openTimeout = .milliseconds(500) } }
            try await eventually("the hello waits for the order") { order.waitingCount == 1 }
            try await expect(.unavailable, from: "joining a hub that does not answer") { _ = try await opening.value }
            order.letGo()
            try await eventually("a session has begun and is over") {
                order.replica.read { $0.revision.rawValue >= 2 && $0.sessions.isEmpty }
            }
            await service.stop()
        }
    }
}
