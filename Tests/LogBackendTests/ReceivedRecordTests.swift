internal import CoreAPI
internal import CoreAPITesting
internal import TestInstruments
internal import Testing

@testable internal import LogBackend

/// Records that a log has been sent, and the group need not read.
@Suite("Records that a log has been sent", .timeLimit(.minutes(10)))
struct ReceivedRecordTests {
    private let log = MemoryLog()
    private let reads = Box(0)

    /// Joins with a log that is sent each record, and counts its reads.
    private func join(_ change: (inout ChangedLog) -> Void = { _ in }) async throws -> ReplicatedGroup {
        let (log, reads) = (log, reads)
        return try await log.join { changed in
            changed.received = { _, position in Array(log.records.dropFirst(Int(position))) }
            changed.read = { view, position, limit throws(SharedCoreError) in
                reads.update { $0 += 1 }
                return try await view.read(from: position, limit: limit)
            }
            change(&changed)
        }
    }

    @Test("A follower applies them without a read")
    func follower() async throws {
        let (writer, reader) = (try await log.join(), try await join())
        let watch = try await reader.watch(.all, from: .now)
        for number in UInt8(0)..<3 {
            try await writer.put("k", [number])
            guard case .changes(let set)? = try await watch.next() else { break }
            #expect(set.changes.last?.new?.value == [number])
            // The first one may come while the opening is still read.
            if number == 0 { reads.update { $0 = 0 } }
        }
        #expect(reads.value == 0)
        await reader.close()
        await writer.close()
    }

    @Test("A commit that others have overtaken applies them without a read, and a linearizable get reads")
    func overtaken() async throws {
        let writer = try await log.join()
        let other = try await join { log in
            log.wait = { _, _ throws(SharedCoreError) in try await LogOrder.pause(.seconds(3600)) }
        }
        try await other.sync()
        for number in UInt8(0)..<3 { try await writer.put("k", [number]) }
        reads.update { $0 = 0 }
        try await other.put("l", [1])
        #expect(reads.value == 0)
        #expect(try await other.get("k")?.value == [2])
        #expect(reads.value == 1)
        await other.close()
        await writer.close()
    }

    @Test("S9: records that are not the next ones end the handle")
    func wrong() async throws {
        let writer = try await log.join()
        let reader = try await join { [log] changed in
            changed.received = { _, position in Array(log.records.dropFirst(Int(position) + 1)) }
            changed.wait = { view, position throws(SharedCoreError) in
                // Both at once, so that one can be left out.
                while log.records.count < Int(position) + 2 { try await LogOrder.pause(.milliseconds(1)) }
            }
        }
        try await reader.sync()
        for number in UInt8(0)..<2 { try await writer.put("k", [number]) }
        try await eventually("the handle ends") {
            try await CoreAPITesting.code { _ = try await reader.get("k", consistency: .causal) } == .corrupt
        }
        await reader.close()
        await writer.close()
    }
}
