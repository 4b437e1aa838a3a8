internal import CoreAPI
internal import CoreAPITesting
internal import Platform
internal import Replica
internal import StoreEngine
internal import TestSupport
internal import Testing

@testable import ZMQBackend

extension ZMQTests {
    /// The remains of a client that cannot continue.
    @Suite("L1: a client with a fault")
    struct FaultTests {
        private let stage: HubStage
        private let hub: ScriptedHub

        init() throws {
            stage = try HubStage()
            hub = try ScriptedHub(at: stage.endpoint)
        }

        @Test("a state that cannot be read ends the join, and the session", arguments: [true, false])
        func damagedState(isProtected: Bool) async throws {
            let armed = FailPoint.arm(isProtected ? "" : "link.giveUp:fail")
            defer { armed.disarm() }
            let link = try HubLink(
                to: stage.endpoint, group: "group", as: SessionDescription(),
                options: ZMQGroupOptions(openTimeout: TestTimeout.usual))
            let opening = Task { _ = try await link.join() }
            try await admit(with: [[0xFF]])
            try await expectEnding(of: link, isProtected)
            try await expect(.corrupt, from: "joining with a damaged state") {
                try await withTimeout(TestTimeout.usual, "the join ends") { try await opening.value }
            }
        }

        @Test(
            "news that cannot be read ends what waits with its error; the session ends when it is closed",
            arguments: [true, false])
        func damagedNews(isProtected: Bool) async throws {
            let opening = Task { [stage] in try await stage.client() }
            try await admit(with: try hub.state())
            let client = try await withTimeout(TestTimeout.usual, "the join ends") { try await opening.value }
            let armed = FailPoint.arm(isProtected ? "" : "link.giveUp:fail")
            defer { armed.disarm() }
            let reading = Task { try await client.get("k") }
            _ = try await hub.next()
            var updates = Updates(after: hub.revision)
            updates.effects = [[0xFF]]
            hub.publish(updates)
            try await expect(.corrupt, from: "a read that was on its way") {
                try await withTimeout(TestTimeout.usual, "the read ends") { try await reading.value }
            }
            try await expect(.corrupt, from: "a read after that") { _ = try await client.get("k") }
            let link = client.link
            #expect(await link.isOver != isProtected)
            let closing = Task { await client.close() }
            try await expectEnding(of: link, isProtected)
            await closing.value
        }

        @Test("an answer or news of more than a client takes ends the connection, and the client comes again")
        func largeFrames() async throws {
            let limit = 1 << 20
            let opening = Task { [stage] in try await stage.client { $0.answerByteLimit = limit } }
            let tooLarge = [UInt8](repeating: 0, count: limit)
            try await admit(with: [tooLarge])
            try await admit(with: try hub.state())
            let client = try await withTimeout(TestTimeout.usual, "the join ends") { try await opening.value }
            #expect(hub.hellos.count == 2)

            hub.publish(try await hub.put("k", [UInt8](repeating: 1, count: Wire.updatesFrameByteLimit)))
            try await hub.echoAgain()
            let isRead = Box(false)
            let reading = Task {
                defer { isRead.update { $0 = true } }
                return try await client.get("k")?.value.count
            }
            try await hub.serve(until: "what the frame held is asked for, and read") { isRead.value }
            #expect(try await reading.value == Wire.updatesFrameByteLimit)
            let closing = Task { await client.close() }
            hub.answer(try await hub.nextClose(), .done)
            await closing.value
        }

        /// Admits the next client, and answers its first question with a snapshot of these records.
        private func admit(with records: @autoclosure () throws -> [[UInt8]]) async throws {
            try await hub.admit()
            let (question, _) = try await hub.nextCatchUp()
            hub.answer(question, .snapshot(hub.revision), records: try records())
        }

        /// Expects that the client returns to close its session. Without the protection it has ended by itself and left
        /// its session.
        private func expectEnding(of link: HubLink, _ isProtected: Bool) async throws {
            guard isProtected else {
                try await eventually("the client has ended") { await link.isOver }
                #expect(!FailPoint.isActive("link.giveUp"))
                return
            }
            let last = try await hub.nextClose()
            #expect(hub.hellos.last?.resumed == hub.session?.id)
            hub.answer(last, .done)
            try await eventually("the client has ended") { await link.isOver }
        }

        @Test("a connection that cannot be made again is tried again; the session and what was asked wait for it")
        func failedConnection() async throws {
            let endpoint = HubEndpoint.inproc(name: stage.directory.path)
            let first = try await stage.hub(at: [endpoint])
            let client = try await stage.client(at: endpoint)
            try await client.put("mine", [1], lifetime: .session)
            await first.stop()
            let armed = FailPoint.arm("link.connect:fail*2")
            defer { armed.disarm() }
            let second = try await stage.hub(at: [endpoint])
            #expect(try await client.get("mine")?.value == [1])
            #expect(!FailPoint.isActive("link.connect"))
            #expect(try await client.sessions().map(\.id) == [client.session.id])
            await client.close()
            await second.stop()
        }
    }
}
