internal import CoreAPI
internal import CoreAPITesting
internal import Platform
internal import TestSupport
internal import Testing

@testable import ZMQBackend

extension ZMQTests {
    /// A network that loses all data for a while, without notice to any process.
    @Suite("A cut line between a client and its hub")
    struct PartitionTests {
        @Test("W1, N3: a cut shorter than the lease: everything that happened meanwhile arrives, in its order")
        func short() async throws {
            var stage = try HubStage()
            stage.lease = .seconds(60)
            let hub = try await stage.hubAtFollowingPorts()
            let (requests, stream, endpoint) = try CuttableLine.pair(to: hub)
            let remote = try await stage.client(at: endpoint)
            let local = try await stage.client()
            let watch = try await remote.watch(.all, from: .now)
            requests.cut()
            stream.cut()
            var written: [Revision] = []
            for number in 0..<50 as Range<UInt64> {
                written.append(try await local.put("k", Counted.bytes(number)).revision)
            }
            let waiting = Task { try await remote.put("from afar", [1]).revision }
            requests.heal()
            stream.heal()
            written.append(try await withTimeout(TestTimeout.usual, "the commit arrives") { try await waiting.value })
            var seen: [Revision] = []
            while seen.count < written.count {
                let event = try await withTimeout(TestTimeout.usual, "the watch goes on") { try await watch.next() }
                seen.append(try #require(event).revision)
            }
            #expect(seen == written)
            await remote.close()
            await local.close()
            await hub.stop()
        }

        @Test(
            "S12, L1: a cut longer than the lease: the session ends for the others, and its late commit takes no effect"
        )
        func long() async throws {
            // A lease that lasts on a busy machine until the cut.
            let stage = try HubStage()
            let hub = try await stage.hubAtFollowingPorts()
            let (requests, stream, endpoint) = try CuttableLine.pair(to: hub)
            let remote = try await stage.client(at: endpoint)
            let local = try await stage.client()
            try await remote.put("mine", [1], lifetime: .session)
            let watch = try await local.watch("mine", from: .now)
            requests.cut()
            stream.cut()
            let event = try await withTimeout(TestTimeout.usual, "the session ends") { try await watch.next() }
            guard case .changes(let set)? = event else {
                Issue.record("no change: \(String(describing: event))")
                return
            }
            #expect(set.changes.map(\.kind) == [.sessionEnded])
            let late = Task { try await remote.put("late", [1]) }
            requests.heal()
            stream.heal()
            let error = await #expect(throws: SharedCoreError.self) {
                try await withTimeout(TestTimeout.usual, "the late commit ends") { try await late.value }
            }
            #expect(error?.code == .sessionEnded, "\(String(describing: error))")
            #expect(try await local.get("late") == nil)
            try await expect(.sessionEnded, from: "whatever comes later") { _ = try await remote.get("k") }
            await remote.close()
            await local.close()
            await hub.stop()
        }

        @Test("N9: only the stream is cut: a client that asks converges, and the rest when the line is healed")
        func streamOnly() async throws {
            let stage = try HubStage()
            let hub = try await stage.hubAtFollowingPorts()
            let (requests, stream, endpoint) = try CuttableLine.pair(to: hub)
            let remote = try await stage.client(at: endpoint)
            let local = try await stage.client()
            let observation = try await remote.observe("news")
            stream.cut()
            let first = try await local.post("news", state: 1)
            try await remote.sync()
            #expect(
                try await withTimeout(TestTimeout.usual, "the asked-for news") { try await observation.next() }?
                    .revision
                    == first)
            let second = try await local.post("news", state: 2)
            stream.heal()
            #expect(
                try await withTimeout(TestTimeout.usual, "the healed news") { try await observation.next() }?.revision
                    == second
            )
            withExtendedLifetime(requests) {}
            await remote.close()
            await local.close()
            await hub.stop()
        }
    }
}
