internal import CoreAPI
internal import CoreAPITesting
internal import Glibc
internal import InMemoryBackend
internal import Platform
internal import TestSupport
internal import Testing

@testable import ZMQBackend

extension ZMQTests {
    /// The work of a hub beside its answers, while one client sends without a pause.
    @Suite("A flood at a hub")
    struct FloodTests {
        /// The work of a hub that must proceed during a flood: in a task of its own, or in turn with the requests.
        enum Work: CaseIterable {
            case durableCommit, commitAfterCompaction, commitOfFullDisk, updates, keys, joining
        }

        @Test(
            "S10, W1: under a flood a hub answers commits that wait for the disk or a compaction, sends updates, and lets others in",
            arguments: Work.allCases)
        func flood(work: Work) async throws {
            let stage = try HubStage()
            let readCount = Box(0)
            // The order is so slow that the next request of the flood has always arrived.
            let order = HeldOrder(
                MemorySpace().order(of: "group", effectByteCount: 1 << 20), isDurableLater: work == .durableCommit
            ) {
                usleep(1_000)
                readCount.update { $0 += 1 }
            }
            let service = try stage.service(order)
            _ = try await service.start()
            let (client, other) = (try await stage.client(), try await stage.client())
            let watch = try await other.watch([.all], from: .now)
            if work == .commitAfterCompaction || work == .commitOfFullDisk {
                order.fill(canRegain: true, mustMakeRoom: work == .commitAfterCompaction)
            }
            let flood = try RawClient(at: stage.endpoint)
            let hello = Request.Hello(
                group: "group", process: .current, description: SessionDescription(),
                token: [UInt8](repeating: 1, count: Wire.tokenByteCount), resumed: nil)
            guard case .welcome = try await flood.ask(.hello(hello)).body else {
                throw HarnessLimitation("no welcome")
            }
            // The answer to this request sends no update to the other clients.
            let request = try Request(number: 9, nonce: flood.nonce, body: .history(after: .zero)).bytes()
            let (first, limit) = (readCount.value, readCount.value + 5_000)
            var sent = first
            func say() async throws {
                while sent < min(readCount.value + 500, limit) {
                    try await flood.say(request)
                    sent += 1
                }
            }
            try await eventually("the flood has begun") {
                try await say()
                return readCount.value > first + 100
            }
            let doneAt = Box<Int?>(nil)
            let task = Task {
                switch work {
                case .durableCommit, .commitAfterCompaction, .commitOfFullDisk: _ = try await client.put("k", [1])
                case .keys: try await service.allow([:])
                case .joining: await (try await stage.client()).close()
                case .updates:
                    _ = try await client.put("k", [1])
                    _ = try await watch.next()
                }
                doneAt.update { $0 = readCount.value }
            }
            try await eventually("it is done, or the flood is over", timeout: TestTimeout.usual) {
                try await say()
                return doneAt.value != nil || readCount.value >= limit
            }
            #expect(doneAt.value ?? limit < limit - 500, "\(readCount.value - first) requests were answered first")
            task.cancel()
            _ = await task.result
            watch.cancel()
            await client.close()
            await other.close()
            await service.stop()
        }
    }
}
