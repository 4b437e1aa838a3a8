internal import CoreAPI
internal import CoreAPITesting
internal import StoreEngine
internal import TestInstruments
internal import Testing

@testable internal import LogBackend

/// A log is not trusted: one that breaks its rules ends the handle, before a wrong value is read.
@Suite("S9: a log that lies ends the handle as corrupt", .timeLimit(.minutes(10)))
struct LyingLogTests {
    private let log = MemoryLog()

    /// The false answers of a log about two records that it has.
    private static let lies: [(name: String, code: SharedCoreError.Code, lie: @Sendable (inout LogSlice) -> Void)] = [
        ("leaves a record out", .corrupt, { $0.records.removeFirst() }),
        ("gives a record twice", .corrupt, { $0.records.insert($0.records[0], at: 0) }),
        ("gives records in another order", .corrupt, { $0.records.swapAt(0, 1) }),
        ("gives a part of a record", .corrupt, { $0.records[0].removeLast(4) }),
        ("gives no bytes", .corrupt, { $0.records[0] = [] }),
        ("gives another format", .incompatible, { $0.records[0][0] += 1 }),
        ("begins later, without a snapshot", .corrupt, { $0.start = 1_000 }),
        (
            "gives a part of a snapshot", .corrupt,
            { slice in
                slice.start = 1_000
                slice.snapshot = [[2, 0, 0, 0, 0, 0, 0, 0, 0, 0]]
            }
        ),
    ]

    @Test("What it reads", arguments: lies.indices)
    func reads(number: Int) async throws {
        let (name, code, lie) = Self.lies[number]
        let isLying = Box(false)
        let writer = try await log.join()
        let reader = try await log.join { log in
            log.read = { view, position, limit throws(SharedCoreError) in
                var slice = try await view.read(from: position, limit: limit)
                guard isLying.value else { return slice }
                // An answer needs two records, so that there is an order to break.
                guard slice.records.count >= 2 else { return LogSlice(start: 0, records: []) }
                lie(&slice)
                return slice
            }
        }
        let watch = try await reader.watch(.all, from: .now)
        try await reader.sync()
        isLying.update { $0 = true }
        try await writer.put("k", [1])
        try await writer.put("k", [2])

        let found = try await CoreAPITesting.code { _ = try await reader.get("k") }
        #expect(found == code, "\(name)")
        // A causal read neither, and no watch.
        #expect(try await CoreAPITesting.code { _ = try await reader.get("k", consistency: .causal) } == code)
        let end = try await withTimeout(TestTimeout.usual, "the watch ends") {
            try await CoreAPITesting.code { while try await watch.next() != nil {} }
        }
        #expect(end == code, "\(name)")
        #expect(try await writer.get("k")?.value == [2])
        await reader.close()
        await writer.close()
    }

    @Test("Its last record is lost, and others follow, of the same session and with the same revisions")
    func lostAndReplaced() async throws {
        let view = log.open()
        let writer = try await ReplicatedGroup.open(log: view, options: .ofMemory)
        let reader = try await log.join()
        try await writer.sync()
        view.stop()
        try await reader.put("k", [1])
        log.removeLast()
        view.continue()
        try await writer.put("other", [1])
        try await writer.put("other", [2])
        #expect(try await CoreAPITesting.code { try await reader.sync() } == .corrupt)
        #expect(try await CoreAPITesting.code { _ = try await reader.put("k", [2]) } == .corrupt)
        #expect(try await writer.list().entries.map(\.key) == ["other"])
        await reader.close()
        await writer.close()
    }

    @Test("Its last record is lost, and none stands in its place")
    func lost() async throws {
        let group = try await log.join()
        try await group.put("k", [1])
        log.removeLast()
        let found = try await withTimeout(TestTimeout.usual, "the commit ends") {
            try await CoreAPITesting.code { _ = try await group.put("k", [2]) }
        }
        #expect(found == .corrupt)
        await group.close()
    }

    @Test("A record that no participant may have made is refused, not applied")
    func strangeRecords() async throws {
        let clock = ManualClock()
        let log = MemoryLog()
        let start = clock.now()
        func refused(_ what: String, _ body: Effect.Body, after step: UInt64 = 1, in time: Duration = .zero)
            async throws
        {
            let count = log.records.count
            let reader = try await log.join(clock: clock) { log in
                // The log learns of the record when it is asked.
                log.wait = { _, _ throws(SharedCoreError) in try await LogOrder.pause(.seconds(3600)) }
            }
            let before = try await reader.list()
            let revision = Revision(rawValue: (try log.effects().last?.revision.rawValue ?? 0) + step)
            try log.add(body, at: revision, time: start.advanced(by: time))
            let found = try await CoreAPITesting.code { try await reader.sync() }
            #expect(found == .corrupt, "\(what)")
            let causal = try? await reader.list(.all, consistency: .causal)
            #expect(causal == nil || causal == before, "\(what)")
            while log.records.count > count { log.removeLast() }
            await reader.close()
        }

        let writer = try await log.join(clock: clock)
        let author = writer.session.id
        try await writer.put("k", [1], lifetime: .expiring(after: .seconds(10)))
        let operations = [Effect.Operation.put("other", .inline([1]), .persistent)]
        try await refused("a stale effect", .committed(author, requestNumber: nil, operations), after: 0)
        try await refused("one from the future", .committed(author, requestNumber: nil, operations), after: 2)
        try await refused(
            "one of no participant", .committed(SessionID(rawValue: 7), requestNumber: nil, operations))
        try await refused("the end of no participant", .sessionEnded(SessionID(rawValue: 7)))
        try await refused("an expiry before its time", .expired(["k"]), in: .seconds(9))
        try await refused("an expiry of nothing", .expired(["other"]), in: .seconds(11))
        try await refused(
            "a commit judged with an entry whose time was over", .committed(author, requestNumber: nil, operations),
            in: .seconds(10))
        try await refused("another beginning of the same run", .restarted(clock.bootID), after: 1 << 32)
        await writer.close()
    }
}
