internal import CoreAPI
internal import CoreAPITesting
internal import Replica
internal import StoreEngine
internal import TestSupport
internal import Testing

@testable import ZMQBackend

extension ZMQTests {
    /// The steps of a client between its hello and its replica, with any messages in between.
    @Suite("A client joins")
    struct JoiningTests {
        private let stage: HubStage
        private let hub: ScriptedHub
        private let link: HubLink
        private let joining: Task<Revision, any Error>

        init() throws {
            stage = try HubStage()
            let link = try HubLink(
                to: stage.endpoint, group: "group", as: SessionDescription(),
                options: ZMQGroupOptions(openTimeout: TestTimeout.usual, requestTimeout: TestTimeout.usual))
            hub = try ScriptedHub(at: stage.endpoint)
            self.link = link
            joining = Task { try await link.join().1.read { $0.revision } }
        }

        @Test("a join takes two requests: hello, and one for the state")
        func threeSteps() async throws {
            try await hub.admit()
            let (question, known) = try await hub.nextCatchUp()
            #expect(known == nil)
            hub.answer(question, .snapshot(hub.revision), records: try hub.state())
            #expect(try await joined() == hub.revision)
            let reading = Task { [link] in try await link.ask(.read) }
            let next = try await hub.next()
            guard case .read = next.request.body else {
                Issue.record("asked behind the join: \(next.request.body)")
                return
            }
            #expect(next.request.number == question.request.number + 1)
            hub.answer(next, .current(hub.revision, Updates(after: hub.revision)))
            _ = try await reading.value
            await leave()
        }

        @Test("N2, W1: news that comes before the state, and that the state has not, is asked for without a beacon")
        func newsBeforeState() async throws {
            try await hub.admit()
            let (question, _) = try await hub.nextCatchUp()
            let (revision, records) = (hub.revision, try hub.state())
            let updates = try await hub.put("k", [1])
            hub.publish(updates)
            try await eventually("the news is heard") { await link.announced == hub.revision }
            hub.answer(question, .snapshot(revision), records: records)
            let (missing, known) = try await hub.nextCatchUp()
            #expect(known == revision)
            hub.answer(missing, .current(hub.revision, updates))
            _ = try await joined()
            try await eventually("the replica has it") { await link.replica?.read { $0.revision } == hub.revision }
            await leave()
        }

        @Test("an echo that comes while the state is on its way is followed by another question")
        func echoDuringCatchUp() async throws {
            try await hub.admit()
            let (question, _) = try await hub.nextCatchUp()
            // A message that is published before this second echo may be lost.
            let (revision, records) = (hub.revision, try hub.state())
            let updates = try await hub.put("k", [1])
            try await hub.echo()
            try await eventually("it is heard") { await link.isHeardAnew }
            hub.answer(question, .snapshot(revision), records: records)
            let (missing, known) = try await hub.nextCatchUp()
            #expect(known == revision)
            hub.answer(missing, .current(hub.revision, updates))
            _ = try await joined()
            await leave()
        }

        @Test("a state that was refused is asked for again when the stream tells of one")
        func refusedState() async throws {
            try await hub.admit()
            let (question, _) = try await hub.nextCatchUp()
            hub.answer(question, .refused(SharedCoreError(.unavailable, "Not now.", at: "hub")))
            try await eventually("the refusal is heard") { await link.catchUp == nil }
            hub.publishBeacon()
            let (again, known) = try await hub.nextCatchUp()
            #expect(known == nil)
            hub.answer(again, .snapshot(hub.revision), records: try hub.state())
            #expect(try await joined() == hub.revision)
            await leave()
        }

        @Test("L1: a lease that only a later hub gives is kept")
        func laterLease() async throws {
            try await hub.admit()
            let (question, _) = try await hub.nextCatchUp()
            hub.answer(question, .snapshot(hub.revision), records: try hub.state())
            _ = try await joined()
            // The next hub, which knows no connection and does not see the client's process.
            hub.lease = .seconds(1)
            let reading = Task { [link] in try await link.ask(.read) }
            hub.answer(try await hub.next(), .unknown)
            var kept = 0
            while kept < 3 {
                let next = try await hub.next("a sign of life")
                switch next.request.body {
                case .keepAlive: kept += 1
                case .read, .catchUp: hub.answer(next, .current(hub.revision, Updates(after: hub.revision)))
                default: Issue.record("asked: \(next.request.body)")
                }
            }
            #expect(hub.hellos.last?.resumed == hub.session?.id)
            _ = try await withTimeout(TestTimeout.usual, "the read ends") { try await reading.value }
            await leave()
        }

        private func joined() async throws -> Revision {
            try await withTimeout(TestTimeout.usual, "the join ends") { [joining] in try await joining.value }
        }

        private func leave() async {
            let closing = Task { [link] in await link.close() }
            if let question = try? await hub.nextClose() { hub.answer(question, .done) }
            await closing.value
        }
    }
}
