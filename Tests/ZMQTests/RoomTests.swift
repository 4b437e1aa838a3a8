internal import CoreAPI
internal import CoreAPITesting
internal import Platform
internal import Replica
internal import StoreEngine
internal import TestSupport
internal import Testing

@testable internal import FileNotifyBackend
@testable internal import ZMQBackend

extension ZMQTests {
    /// The writes that a hub on files delays until a compaction.
    @Suite("Room behind a hub")
    struct RoomTests {
        @Test("S10: behind a long journal, content that comes through a hub waits for a compaction, and nothing else")
        func content() async throws {
            let stage = try HubStage()
            let options = FileGroupOptions(historyByteCount: 1 << 20)
            let hub = try await stage.hub(files: options)
            let client = try await stage.client()
            try await client.put("small", [1])
            // The same as the hub's.
            var hubOptions = options
            hubOptions.effectByteCount = 4 << 20
            let local = try await GroupRegistry.shared.group(at: stage.files, options: hubOptions)
            let gate = try EventCounter()
            local.compaction.thread.submit { _ = Poll.wait(for: [gate.descriptor], timeout: TestTimeout.long) }
            let value = [UInt8](repeating: 7, count: 900 << 10)
            for _ in 0..<3 { try await client.put("large", value) }
            #expect(local.mustMakeRoom)
            let revision = local.replica.read { $0.revision }
            let waiting = Task { try await client.put("large", value) }
            try await eventually("the hub lets it wait") { await hub.delayedByteCount > value.count }
            #expect(try await client.delete("small").changed)
            #expect(local.replica.read { $0.revision.rawValue } == revision.rawValue + 1, "only that was recorded")
            gate.raise()
            #expect(try await withTimeout(TestTimeout.usual, "room is made") { try await waiting.value }.changed)
            #expect(!local.mustMakeRoom)
            #expect(await hub.delayedByteCount == 0)
            await client.close()
            await hub.stop()
        }
    }
}

extension Hub {
    fileprivate var delayedByteCount: Int { get async { await service.delayedByteCount } }
}
