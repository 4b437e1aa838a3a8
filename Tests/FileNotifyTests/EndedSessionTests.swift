internal import CoreAPI
internal import FileNotifyBackend
internal import StoreEngine
internal import TestSupport
internal import Testing

/// Handles with a session that another process has ended: a reader must notice the end as soon as it is in the journal.
@Suite("Sessions that others have ended")
struct EndedSessionTests {
    @Test("L1: a look that follows the end of its session is refused, and those of others are answered")
    func looksAreRefused() async throws {
        let directory = try TemporaryDirectory()
        let group = directory.path(of: "group")
        let one = try await FileGroup.open(directory: group)
        let two = try await FileGroup.open(directory: group)
        try await two.put("k", [1])
        let order = try await FileOrder.open(directory: group, options: FileGroupOptions(), effectByteCount: 1 << 10)
        for consistency in [ReadConsistency.linearizable, .causal] {
            // A result that was computed once must not be reused for ever.
            #expect(try await one.get("k", consistency: consistency)?.value == [1])
            #expect(try await two.get("k", consistency: consistency)?.value == [1])
        }
        _ = try await order.record(.end(one.session.id))
        for consistency in [ReadConsistency.linearizable, .causal] {
            let error = await #expect(throws: SharedCoreError.self) { try await one.get("k", consistency: consistency) }
            #expect(error?.code == .sessionEnded)
            #expect(try await two.get("k", consistency: consistency)?.value == [1])
        }
        let error = await #expect(throws: SharedCoreError.self) { try await one.list("", consistency: .causal) }
        #expect(error?.code == .sessionEnded)
        await one.close()
        await two.close()
    }
}
