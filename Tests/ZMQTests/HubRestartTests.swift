internal import CoreAPI
internal import CoreAPITesting
internal import FileNotifyBackend
internal import Glibc
internal import Platform
internal import TestSupport
internal import Testing
internal import ZMQBackend

extension ZMQTests {
    /// The view of clients on a hub that is killed, stopped and started again.
    @Suite("A hub's restarts")
    struct HubRestartTests {
        @Test(
            "S12: a hub is killed between a commit and its answer: the client gets the first result from the next hub")
        func killedBeforeItsAnswer() async throws {
            for place in ["hub.afterRecord", "hub.beforeReply"] {
                let stage = try HubStage()
                let first = try await stage.hubProcess(failPoint: "\(place):kill@2")
                let client = try await stage.client()
                try await client.put("before", [1])
                async let commit = client.commit(
                    Transaction(
                        guards: [.absent("once")], operations: [.put("once", [1], .persistent), .post("n", state: nil)])
                )
                _ = await first.process.end()
                let second = try await stage.hubProcess()
                let result = try await commit
                #expect(result.changed)
                #expect(try await client.get("once")?.revision == result.revision)
                #expect(try await client.state(of: "n").count == 1)
                await client.close()
                second.process.signal(.kill)
                _ = await second.process.end()
            }
        }

        @Test("S12: without the number of the delivery, the same is refused: the test can fail")
        func withoutDeliveryNumber() async throws {
            let stage = try HubStage()
            let first = try await stage.hubProcess(failPoint: "hub.delivery:fail,hub.beforeReply:kill")
            let client = try await stage.client()
            let commit = Task { try await client.put("once", [1], if: .absent("once")) }
            _ = await first.process.end()
            let second = try await stage.hubProcess()
            let outcome = await #expect(throws: SharedCoreError.self) { try await commit.value }
            #expect(outcome?.code == .guardFailed)
            await client.close()
            second.process.signal(.kill)
            _ = await second.process.end()
        }

        @Test("S3, S12, W1: writers and a watcher go through five killed hubs; nothing is lost, repeated or seen twice")
        func killedUnderLoad() async throws {
            let stage = try HubStage()
            let hub = try await stage.hubProcess()
            let clients = [try await stage.client(), try await stage.client()]
            let watcher = try await stage.client()
            let watch = try await watcher.watch("count", from: .now)
            let posts = try await watcher.observe("posted")
            let isOver = Box(false)
            let writers = clients.enumerated().map { number, client in
                Task { () async throws -> Int in
                    var done = 0
                    let key = try Key("count/\(number)")
                    while !isOver.value {
                        let old = try await client.get(key)
                        let next = (old.map { Counted.value($0.value) } ?? 0) + 1
                        var transaction = Transaction(
                            guards: [old.map { .revision(key, $0.revision) } ?? .absent(key)])
                        transaction.put(key, Counted.bytes(next))
                        transaction.post("posted", state: next)
                        _ = try await client.commit(transaction)
                        done += 1
                    }
                    return done
                }
            }
            var running = hub
            for _ in 0..<5 {
                let before = try await count(clients[0])
                try await eventually("the writers go on") { try await count(clients[0]) >= before + 20 }
                running.process.signal(.kill)
                _ = await running.process.end()
                running = try await stage.hubProcess()
            }
            isOver.update { $0 = true }
            var total = 0
            for writer in writers {
                total += try await withTimeout(TestTimeout.usual, "a writer ends") { try await writer.value }
            }
            #expect(try await count(clients[0]) == total)

            // The watch has delivered every commit once, in order, or has reported a gap.
            var seen: [String: UInt64] = [:]
            var revision = Revision.zero
            try await watcher.sync()
            let last = try await watcher.list("count").entries.map(\.revision).max() ?? .zero
            while revision < last {
                let event = try await withTimeout(TestTimeout.usual, "the watch goes on") { try await watch.next() }
                switch try #require(event) {
                case .changes(let set):
                    #expect(set.revision > revision)
                    for change in set.changes {
                        let value = Counted.value(try #require(change.new).value)
                        #expect(value == (seen[change.key.text] ?? 0) + 1, "the next value of \(change.key)")
                        seen[change.key.text] = value
                    }
                    revision = set.revision
                case .snapshot(let snapshot), .lagged(let snapshot):
                    Issue.record("the watch was passed over at \(snapshot.revision)")
                    return
                }
            }
            var posted: UInt64 = 0
            while posted < UInt64(total) {
                let delivery = try await withTimeout(TestTimeout.usual, "the posts arrive") { try await posts.next() }
                posted += try #require(delivery).count
            }
            #expect(posted == UInt64(total))
            for client in clients + [watcher] { await client.close() }
            running.process.signal(.kill)
        }

        private func count(_ client: ZMQGroup) async throws -> Int {
            try await client.list("count").entries.reduce(0) { $0 + Int(Counted.value($1.value)) }
        }

        @Test("L1: a hub that was stopped for longer than all leases ends no session")
        func stopped() async throws {
            // A lease that lasts on a busy machine.
            let stage = try HubStage()
            let hub = try await stage.hubProcess(at: .tcp(host: "127.0.0.1", port: 0))
            let client = try await stage.client(at: hub.endpoint)
            try await client.put("mine", [1], lifetime: .session)
            hub.process.signal(.stop)
            try await eventually("the hub stands still") { hub.process.isStopped }
            // The test tries the stop itself: longer than the lease, by the clock of all others.
            try await Task.sleep(for: stage.lease + .seconds(2))
            hub.process.signal(.continue)
            #expect(try await client.get("mine")?.value == [1])
            #expect(try await client.sessions().map(\.id) == [client.session.id])
            await client.close()
        }

        @Test(
            "S12: in front of memory, the group ends with its hub: a typed error, and a new group for the next opener"
        )
        func memoryIsGone() async throws {
            let stage = try HubStage()
            let first = try await stage.hubProcess(storage: "memory")
            let client = try await stage.client()
            try await client.put("k", [1])
            let watch = try await client.watch(.all, from: .now)
            let waiting = Task { try await watch.next() }
            first.process.signal(.kill)
            _ = await first.process.end()
            let second = try await stage.hubProcess(storage: "memory")
            try await expect(.sessionEnded, from: "a read of the group that is gone") { _ = try await client.get("k") }
            let end = await #expect(throws: SharedCoreError.self) {
                try await withTimeout(TestTimeout.usual, "the watch ends") { try await waiting.value }
            }
            #expect(end?.code == .sessionEnded)
            let again = try await stage.client()
            #expect(try await again.get("k") == nil)
            await again.close()
            await client.close()
            second.process.signal(.kill)
        }

        @Test(
            "S12, S13: without a hub a commit is `outcomeUnknown` when it was sent, and `unavailable` when it was not")
        func noHub() async throws {
            let stage = try HubStage()
            let hub = try await stage.hubProcess(failPoint: "hub.afterRecord:kill")
            // Long enough for a busy machine to have sent the request.
            let client = try await stage.client { $0.requestTimeout = .seconds(3) }
            try await expect(.outcomeUnknown, from: "a commit whose answer is lost") { try await client.put("k", [1]) }
            _ = await hub.process.end()
            try await expect(.unavailable, from: "a commit that nobody takes") { try await client.put("k", [2]) }
            try await expect(.unavailable, from: "a read that nobody answers") { _ = try await client.get("k") }
            // The client's replica answers without a hub.
            _ = try await client.get("k", consistency: .causal)
            let task = Task { try await client.put("k", [3]) }
            task.cancel()
            let cancelled = await #expect(throws: SharedCoreError.self) {
                try await withTimeout(TestTimeout.usual, "the cancelled commit ends") { try await task.value }
            }
            #expect(cancelled?.code == .cancelled)
            await client.close()
        }
    }
}
