internal import CoreAPI
internal import CoreAPITesting
internal import Glibc
internal import InMemoryBackend
internal import Platform
internal import Replica
internal import StoreEngine
internal import TestSupport
internal import Testing

@testable import ZMQBackend

extension ZMQTests {
    /// A process that continues after a participant of it left while no hub could be told.
    @Suite("L1: leaving without a hub")
    struct LeavingTests {
        @Test(
            "of two groups of a process, one closes after its hub was killed: the next hub ends that session alone",
            arguments: [true, false])
        func closedWithoutHub(isProtected: Bool) async throws {
            let armed = FailPoint.arm(isProtected ? "" : Self.goingAtOnce)
            defer { armed.disarm() }
            let stage = try HubStage()
            let first = try await stage.hubProcess()
            let (leaving, staying) = (try await stage.client(), try await stage.client())
            try await leaving.put("mine", [1], lifetime: .session)
            first.process.signal(.kill)
            _ = await first.process.end()
            await leaving.close()

            let second = try await stage.hubProcess()
            try await expectEnding(of: leaving, as: staying, isProtected)
            #expect(try await (staying.get("mine") == nil) == isProtected)
            await staying.close()
            second.process.signal(.kill)
            _ = await second.process.end()
        }

        @Test(
            "a hub that stands still while a client closes, and is killed, is followed by one that hears of it",
            arguments: [true, false])
        func closedBeforeFrozenHub(isProtected: Bool) async throws {
            let armed = FailPoint.arm(isProtected ? "" : Self.goingAtOnce)
            defer { armed.disarm() }
            let stage = try HubStage()
            let first = try await stage.hubProcess()
            let (leaving, staying) = (try await stage.client(), try await stage.client())
            first.process.signal(.stop)
            try await eventually("the hub stands still") { first.process.isStopped }
            await leaving.close()
            first.process.signal(.kill)
            _ = await first.process.end()
            let second = try await stage.hubProcess()
            try await expectEnding(of: leaving, as: staying, isProtected)
            await staying.close()
            second.process.signal(.kill)
            _ = await second.process.end()
        }

        @Test("a close waits 5 s for a hub that is connected, and 1 s where a request has had no answer for 1 s")
        func silentHub() async throws {
            let stage = try HubStage()
            let hub = try ScriptedHub(at: stage.endpoint)
            let opening = Task { try await stage.client() }
            try await hub.admit()
            let (state, _) = try await hub.nextCatchUp()
            hub.answer(state, .snapshot(hub.revision), records: try hub.state())
            let client = try await withTimeout(TestTimeout.usual, "the join ends") { try await opening.value }
            #expect(await client.link.closingTimeout == .seconds(5))

            let reading = Task { try await client.get("k") }
            _ = try await hub.next("its read")
            try await eventually("the hub counts as silent") {
                await client.link.closingTimeout == .seconds(1)
            }
            // Also if the request was given up, until the hub answers.
            reading.cancel()
            _ = await reading.result
            #expect(await client.link.closingTimeout == .seconds(1))
            let again = Task { try await client.get("k") }
            let question = try await hub.next("its next read")
            hub.answer(question, .current(hub.revision, Updates(after: hub.revision)))
            _ = await again.result
            #expect(await client.link.closingTimeout == .seconds(5))
            let closing = Task { await client.close() }
            hub.answer(try await hub.nextClose(), .done)
            try await withTimeout(TestTimeout.usual, "the close ends") { await closing.value }
        }

        @Test(
            "S13: a commit that was answered before the close is done, though its news will not come any more",
            arguments: [true, false])
        func answeredBeforeClose(isProtected: Bool) async throws {
            try await expectDone(isProtected) { client, hub, _ in
                let closing = Task { await client.close() }
                hub.answer(try await hub.nextClose(), .done)
                try await withTimeout(TestTimeout.usual, "the close ends") { await closing.value }
            }
        }

        @Test(
            "S13: a commit that was answered is done when its task is cancelled, though its news have not come",
            arguments: [true, false])
        func answeredBeforeCancellation(isProtected: Bool) async throws {
            try await expectDone(isProtected) { client, hub, putting in
                // The request for the updates of it shows that the put was answered.
                _ = try await hub.nextCatchUp()
                putting.cancel()
            }
        }

        /// Checks that a put that was answered, but whose updates do not come, has the result of the answer after
        /// `end`. Without the protection the outcome is unknown.
        private func expectDone(
            _ isProtected: Bool, after end: (ZMQGroup, ScriptedHub, Task<Commit, any Error>) async throws -> Void
        ) async throws {
            let armed = FailPoint.arm(isProtected ? "" : "link.heldAtEnd:fail")
            defer { armed.disarm() }
            let stage = try HubStage()
            let hub = try ScriptedHub(at: stage.endpoint)
            let opening = Task { try await stage.client() }
            try await hub.admit()
            let (state, _) = try await hub.nextCatchUp()
            hub.answer(state, .snapshot(hub.revision), records: try hub.state())
            let client = try await withTimeout(TestTimeout.usual, "the join ends") { try await opening.value }

            let putting = Task { try await client.put("k", [1]) }
            let question = try await hub.next("its commit")
            let commit = Commit(revision: Revision(rawValue: hub.revision.rawValue + 1), changed: true)
            hub.answer(question, .outcome(.committed(commit), at: commit.revision, Updates(after: hub.revision)))
            try await end(client, hub, putting)
            let outcome = try await withTimeout(TestTimeout.usual, "the put ends") { await putting.result }
            if isProtected {
                #expect(try outcome.get() == commit)
            } else {
                try await expect(.outcomeUnknown, from: "a put whose answer is forgotten") { _ = try outcome.get() }
                #expect(!FailPoint.isActive("link.heldAtEnd"))
            }
        }

        /// Active each time: a link that an earlier test has released may still be closing.
        private static let goingAtOnce = "link.stayBehind:fail*"

        /// Checks that the session of a participant that left has ended. Without the protection no process ends it.
        private func expectEnding(of leaving: ZMQGroup, as staying: ZMQGroup, _ isProtected: Bool) async throws {
            let (left, stays) = (leaving.session.id, staying.session.id)
            guard isProtected else {
                #expect(await leaving.link.isOver)
                #expect(try await staying.sessions().map(\.id) == [left, stays].sorted())
                return
            }
            try await eventually("the session that was closed is over") {
                try await staying.sessions().map(\.id) == [stays]
            }
        }

        @Test(
            "a join that was given up before its welcome leaves no session to a hub that answers late",
            arguments: [true, false])
        func givenUpBeforeWelcome(isProtected: Bool) async throws {
            let armed = FailPoint.arm(isProtected ? "" : Self.goingAtOnce)
            defer { armed.disarm() }
            let stage = try HubStage()
            let order = HeldOrder(MemorySpace().order(of: "group", effectByteCount: 1 << 20))
            let service = try stage.service(order)
            _ = try await service.start()
            order.hold()
            let opening = Task { try await stage.client() }
            try await eventually("the hello waits for the order") { order.waitingCount == 1 }
            opening.cancel()
            try await expect(.cancelled, from: "joining a hub that does not answer") { _ = try await opening.value }
            order.letGo()
            try await eventually("a session has begun") { order.replica.read { $0.revision.rawValue >= 1 } }
            if isProtected {
                try await eventually("it is over") { order.replica.read { $0.sessions.isEmpty } }
            } else {
                #expect(order.replica.read { $0.sessions.count } == 1)
            }
            await service.stop()
        }
    }
}
