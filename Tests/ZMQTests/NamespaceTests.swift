internal import CoreAPI
internal import CoreAPITesting
internal import FileNotifyBackend
internal import Glibc
internal import Platform
internal import TestSupport
internal import Testing

@testable import ZMQBackend

extension ZMQTests {
    /// A hub and a client with a network between them that the system can cut; CURVE admits the client. PartitionTests
    /// tests a cut line on all systems, including those without such namespaces.
    @Suite(
        "Between two network namespaces",
        .enabled(if: NetworkPair.isAllowed, "This needs root, network namespaces and iproute2; see PartitionTests."))
    struct NamespaceTests {
        private static let port: UInt16 = 5_570

        /// A stage with its hub and peer at the two ends of a cable, and a participant of the hub's machine.
        private struct Play {
            let network: NetworkPair
            let stage: HubStage
            let hub: HubChild
            let remote: Peer
            let local: FileGroup

            init(lease: Duration) async throws {
                network = try NetworkPair()
                let keys = (hub: try CurveKeyPair.generate(), client: try CurveKeyPair.generate())
                var stage = try HubStage()
                stage.lease = lease
                stage.keys = keys
                self.stage = stage
                hub = try await stage.hubProcess(
                    at: .tcp(host: network.hubAddress, port: NamespaceTests.port), through: network.atHub)
                remote = try Peer(
                    PeerProgram(path: try ChildProcess.built("sharedcore-test-peer")), through: network.atClient)
                _ = try await remote.answer()
                try await remote.tell("open zmq \(hub.endpoint) \(keys.client.secretKey) \(keys.hub.publicKey)")
                local = try await FileGroup.open(directory: stage.files)
            }

            func end() async {
                await local.close()
                await remote.killNow()
                hub.process.signal(.kill)
                _ = await hub.process.end()
            }
        }

        @Test("W1, S12: a cut shorter than the lease: nothing is missed or repeated, and what waited takes effect once")
        func short() async throws {
            let play = try await Play(lease: .seconds(60))
            try await play.remote.tell("watch k")
            try play.network.cut()
            for number in 0..<50 as Range<UInt64> { try await play.local.put("k/a", Counted.bytes(number)) }
            try play.remote.send("put k/b here")
            #expect(try await play.local.get("k/b") == nil, "nothing passes")
            let last = try await play.local.put("k/a", [1]).revision
            try play.network.heal()
            _ = try await play.remote.done()
            #expect(try await play.local.get("k/b")?.revision ?? .zero > last)
            let end = try await play.local.put("k/c", [1]).revision
            let words = try await play.remote.tell("watched \(end)").split(separator: " ").map(String.init)
            // 51 before, the one that waited, and this one: none was skipped, and all came in order.
            #expect(words == ["53", "0", "0", "\(end)"])
            await play.end()
        }

        @Test("L1, S1: a cut longer than the lease: the session ends for the others, and a late commit takes no effect")
        func long() async throws {
            // A lease that lasts on a busy machine until the cut.
            let play = try await Play(lease: .seconds(3))
            try await play.remote.tell("hold mine here")
            let watch = try await play.local.watch("mine", from: .now)
            try play.network.cut()
            let event = try await withTimeout(TestTimeout.usual, "the session ends") { try await watch.next() }
            guard case .changes(let set)? = event else {
                Issue.record("no change: \(String(describing: event))")
                return
            }
            #expect(set.changes.map(\.kind) == [.sessionEnded])
            try play.remote.send("put late here")
            try play.network.heal()
            let answer = try await play.remote.answer()
            #expect(answer.contains("sessionEnded") && !answer.contains("outcomeUnknown"), "the answer: \(answer)")
            #expect(try await play.local.get("late") == nil)
            await play.end()
        }
    }
}
