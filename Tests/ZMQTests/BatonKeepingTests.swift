internal import CoreAPI
internal import CoreAPITesting
internal import Glibc
internal import InMemoryBackend
internal import Platform
internal import StoreEngine
internal import Synchronization
internal import TestSupport
internal import Testing

@testable internal import Coordination
@testable import ZMQBackend

extension ZMQTests {
    /// The baton that a hub keeps, from the view of its clients (contract C25).
    @Suite("C25: the baton of a hub")
    struct BatonKeepingTests {
        private static let owner = OwnershipKey.owner
        private static let bytes = [UInt8](repeating: 7, count: Baton.maximumByteCount)

        /// The commit that owns in place of the present owner, and offers the baton of an epoch.
        private static func owning(offering epoch: Revision? = nil) -> Transaction {
            var transaction = Transaction()
            transaction.delete(owner)
            transaction.put(owner, [1], lifetime: .session)
            guard let epoch else { return transaction }
            // The beginning that all versions of the record have.
            var writer = ByteWriter()
            writer.byte(1)
            writer.integer(epoch.rawValue)
            writer.byte(1)
            transaction.put(OwnershipKey.baton, writer.bytes)
            return transaction
        }

        @Test("C25: a key that may not participate keeps and fetches nothing", arguments: ["read", "post"])
        func rights(name: String) async throws {
            let stage = try HubStage()
            let hub = try await stage.hub(at: [.tcp(host: "127.0.0.1", port: 0), stage.endpoint])
            try await hub.allow([stage.keys.client.publicKey: try #require(ClientRights(rawValue: name))])
            let client = try await stage.client(at: hub.endpoints[0])
            let epoch = Revision(rawValue: 1)
            let kept = await #expect(throws: SharedCoreError.self) {
                try await client.keepBaton([1], of: epoch, for: .seconds(1))
            }
            #expect(kept?.code == .forbidden)
            let fetched = await #expect(throws: SharedCoreError.self) {
                _ = try await client.fetchBaton(of: epoch, under: epoch)
            }
            #expect(fetched?.code == .forbidden)
            await client.close()
            await hub.stop()
        }

        @Test("C25: the time of a baton is the hub's running time: a hub that is stopped for longer still has it")
        func stoppedHub() async throws {
            let stage = try HubStage()
            let hub = try await stage.hubProcess()
            let (old, new) = (try await stage.client(), try await stage.client())
            let epoch = try await old.commit(Self.owning()).revision
            try await old.keepBaton([1, 2], of: epoch, for: .seconds(1))
            let next = try await new.commit(Self.owning(offering: epoch)).revision
            hub.process.signal(.stop)
            let stopped = SystemClock().now()
            try await eventually("it is stopped for three lifetimes") {
                stopped.duration(to: SystemClock().now()) > .seconds(3)
            }
            hub.process.signal(.continue)
            #expect(try await new.fetchBaton(of: epoch, under: next) == [1, 2])
            let continued = SystemClock().now()
            try await eventually("its time is over") { try await new.fetchBaton(of: epoch, under: next) == nil }
            #expect(continued.duration(to: SystemClock().now()) < .seconds(10))
            await old.close()
            await new.close()
            hub.process.signal(.kill)
            _ = await hub.process.end()
        }

        @Test("C25: 1,000 batons of one owner, and of a session that does not own, leave a hub with one")
        func manyKeeps() async throws {
            let stage = try HubStage()
            let hub = try await stage.hubProcess()
            let (owner, other) = (try await stage.client(), try await stage.client())
            let epoch = try await owner.commit(Self.owning()).revision
            func keep(_ count: Int) async throws {
                for _ in 0..<count {
                    try await owner.keepBaton(Self.bytes, of: epoch, for: .seconds(60))
                    try await expect(.guardFailed, from: "a keep of a session that does not own") {
                        try await other.keepBaton(Self.bytes, of: epoch, for: .seconds(60))
                    }
                }
            }
            try await keep(20)
            let before = try ProcessUse(of: hub.process.pid).residentByteCount
            let keeping = Task { try await keep(1_000) }
            let putter = try await stage.client()
            try await withTimeout(TestTimeout.usual, "a put takes its turn") { _ = try await putter.put("k", [1]) }
            try await keeping.value
            let grown = try ProcessUse(of: hub.process.pid).residentByteCount - before
            #expect(grown < 8 << 20, "\(grown) bytes")
            for client in [owner, other, putter] { await client.close() }
            hub.process.signal(.kill)
            _ = await hub.process.end()
        }

        /// The reads of a hub while it answers a flood.
        private struct Seen {
            var service: HubService?
            var reads = 0
            /// The number of reads before the baton ended, and before the silent session ended.
            var untilOver: Int?
            var untilEnded: Int?
        }

        @Test(
            "C25, L1: a hub under a flood counts the time of a baton, and ends a session whose lease or process is over",
            arguments: [false, true])
        func flood(withProcess: Bool) async throws {
            let stage = try HubStage()
            let process = try ChildProcess("/bin/sleep", ["600"])
            let seen = Box(Seen())
            // The order is so slow that the next request of the flood has always arrived.
            let order = HeldOrder(MemorySpace().order(of: "group", effectByteCount: 1 << 20)) {
                usleep(1_000)
                seen.update { seen in
                    guard let service = seen.service else { return }
                    seen.reads += 1
                    if seen.reads == 500 { process.signal(.kill) }
                    let (isOver, hasEnded) = service.assumeIsolated { service in
                        (service.baton.isEmpty, service.clients.count == 1)
                    }
                    if isOver, seen.untilOver == nil { seen.untilOver = seen.reads }
                    if hasEnded, seen.untilEnded == nil { seen.untilEnded = seen.reads }
                }
            }
            let service = try HubService(
                order: order,
                options: HubOptions(
                    group: "group", storage: .memory(MemorySpace()), endpoints: [.tcp(host: "127.0.0.1", port: 0)],
                    keys: CurveHubKeys(own: stage.keys.hub, clients: [stage.keys.client.publicKey]),
                    lease: .seconds(withProcess ? 60 : 3)))
            let endpoint = try await service.start()[0]
            func join(_ number: UInt8) async throws -> RawClient {
                let client = try RawClient(at: endpoint, keys: stage.clientKeys(for: endpoint))
                let hello = Request.Hello(
                    group: "group", process: .current, description: SessionDescription(),
                    token: [UInt8](repeating: number, count: Wire.tokenByteCount), resumed: nil)
                guard case .welcome = try await client.ask(.hello(hello)).body else {
                    throw HarnessLimitation("no welcome")
                }
                return client
            }
            let flood = try await join(1)
            guard
                case .outcome(let outcome, _, _) =
                    try await flood.ask(.commit(Self.owning(), known: .zero)).body
            else { throw HarnessLimitation("no outcome") }
            let epoch = try outcome.get().revision
            let silent = try await join(2)
            let handle = try ProcessHandle(process.identity)
            if withProcess { try await service.watchForLatest(handle) }
            #expect(try await flood.ask(.keepBaton([1], of: epoch, for: .seconds(1))).body == .done)
            seen.update { $0.service = service }
            let read = try Request(number: 9, nonce: flood.nonce, body: .read(known: .zero)).bytes()
            let limit = 8_000
            for _ in 0..<limit { try await flood.say(read) }
            try await eventually("the flood is answered", timeout: TestTimeout.usual) { seen.value.reads >= limit }
            let (untilOver, untilEnded) = (seen.value.untilOver, seen.value.untilEnded)
            #expect(untilOver ?? limit < limit - 500, "\(seen.value.reads) reads")
            #expect(untilEnded ?? limit < limit - 500, "\(seen.value.reads) reads")
            seen.update { $0.service = nil }
            withExtendedLifetime((silent, handle)) {}
            await service.stop()
            _ = await process.end()
        }
    }
}

extension HubService {
    /// Makes the latest session end with a process: a client over a network has no visible one.
    fileprivate func watchForLatest(_ process: ProcessHandle) throws {
        let latest = try #require(clients.keys.map(\.rawValue).max())
        try ends.add(process.descriptor, key: latest)
    }
}
