internal import CoreAPI
internal import CoreAPITesting
internal import InMemoryBackend
internal import Platform
internal import Replica
internal import StoreEngine
internal import TestSupport
internal import Testing

@testable import ZMQBackend

extension ZMQTests {
    /// Ends of sessions for which there is no space: the hub reports only ends that are recorded.
    @Suite("L1, S10: a close that finds no space")
    struct RefusedCloseTests {
        private static let fullDisk = [String](repeating: "hub.ending:fail", count: 1_000).joined(separator: ",")

        private let stage: HubStage
        private let order = MemorySpace().order(of: "group", effectByteCount: 1 << 20)

        init() throws {
            stage = try HubStage()
        }

        @Test(
            "the hub ends before it could record a close: the next one hears of it",
            arguments: ["", "link.refusedClose", "hub.unrecordedEnd"])
        func nextHub(protectionTakenOut: String) async throws {
            let isProtected = protectionTakenOut.isEmpty
            let first = try await hub()
            let staying = try await stage.client()
            let link = try HubLink(
                to: stage.endpoint, group: "group", as: SessionDescription(),
                options: ZMQGroupOptions(openTimeout: TestTimeout.usual))
            let session = try await link.join().0.session.id
            let armed = FailPoint.arm(Self.fullDisk + (isProtected ? "" : ",\(protectionTakenOut):fail"))
            defer { armed.disarm() }
            await link.close()
            if isProtected {
                try await eventually("the hub is asked again") { await link.hasComeBack }
            } else {
                try await eventually("the client has ended") { await link.isOver }
            }
            await first.stop()
            // After all work that was left for the hub.
            #expect(await first.isStopped)
            armed.disarm()
            #expect(order.replica.read { $0.sessions[session] } != nil)
            let second = try await hub()
            if isProtected {
                try await eventually("the session is over") {
                    try await staying.sessions().map(\.id) == [staying.session.id]
                }
                try await eventually("the client has ended") { await link.isOver }
            } else {
                #expect(try await staying.sessions().count == 2)
            }
            await staying.close()
            await second.stop()
        }

        @Test("a client that comes back is told that its session is over when that is recorded, and not before")
        func comesBack() async throws {
            let service = try await hub()
            let raw = try RawClient(at: stage.endpoint)
            var hello = Request.Hello(
                group: "group", process: .current, description: SessionDescription(),
                token: [UInt8](repeating: 3, count: Wire.tokenByteCount), resumed: nil)
            guard case .welcome(let welcome) = try await raw.ask(.hello(hello)).body else {
                Issue.record("no welcome")
                return
            }
            let armed = FailPoint.arm(Self.fullDisk)
            defer { armed.disarm() }
            #expect(try await refusal(of: .close, raw) == .storageFull)
            hello.resumed = welcome.session.id
            #expect(try await refusal(of: .hello(hello), raw) == .unavailable)
            #expect(order.replica.read { $0.sessions.count } == 1)
            armed.disarm()
            try await eventually("the end is recorded") {
                let code = try await refusal(of: .hello(hello), raw)
                let isRecorded = order.replica.read { $0.sessions.isEmpty }
                return code == .sessionEnded && isRecorded
            }
            await service.stop()
        }

        private func hub() async throws -> HubService {
            let service = try stage.service(order)
            _ = try await service.start()
            return service
        }

        private func refusal(of body: Request.Body, _ raw: RawClient) async throws -> SharedCoreError.Code? {
            guard case .refused(let error) = try await raw.ask(body).body else { return nil }
            return error.code
        }
    }
}

extension HubLink {
    /// True if a hub has answered the link, over the connection that it made to end its session, that the end cannot be
    /// recorded yet.
    fileprivate var hasComeBack: Bool {
        guard isParted, case .greeting = phase else { return false }
        return lastTrouble?.contains("not be recorded") == true
    }
}
