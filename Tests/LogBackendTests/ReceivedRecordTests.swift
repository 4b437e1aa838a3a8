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

    @Test("A commit that was overtaken by records that are applied already reads nothing")
    func appliedMeanwhile() async throws {
        let writer = try await log.join()
        let (isHeld, taken, handle) = (Box(false), Box<UInt64>(0), Box<ReplicatedGroup?>(nil))
        let other = try await join { [log] changed in
            // Each record once, as from a server.
            changed.received = { _, position in
                taken.update { taken in
                    guard position >= taken else { return [] }
                    let records = Array(log.records.dropFirst(Int(position)))
                    taken = position + UInt64(records.count)
                    return records
                }
            }
            changed.append = { view, record, position throws(SharedCoreError) in
                if isHeld.update({ isHeld in
                    defer { isHeld = false }
                    return isHeld
                }) {
                    try await writer.put("k", [1])
                    // The follower of the log has the record before the append is refused.
                    while try await handle.value?.get("k", consistency: .causal) == nil {
                        try await LogOrder.pause(.milliseconds(1))
                    }
                }
                return try await view.append(record, at: position)
            }
        }
        handle.update { $0 = other }
        try await other.sync()
        isHeld.update { $0 = true }
        reads.update { $0 = 0 }
        try await other.put("l", [1])
        #expect(reads.value == 0)
        handle.update { $0 = nil }
        await other.close()
        await writer.close()
    }

    @Test("S9: records that are not the next ones end the handle")
    func wrong() async throws {
        let writer = try await log.join()
        let reader = try await join { [log] changed in
            changed.received = { _, position in Array(log.records.dropFirst(Int(position) + 1)) }
            changed.wait = { view, position throws(SharedCoreError) in
                // Waits for both records, so that one can be left out of an answer.
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
