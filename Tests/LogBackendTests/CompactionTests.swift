internal import CoreAPI
internal import CoreAPITesting
internal import LogBackend
internal import TestInstruments
internal import Testing

/// A log is replaced by a snapshot when it is long.
@Suite("S10: compaction of a log", .timeLimit(.minutes(10)))
struct CompactionTests {
    private let log = MemoryLog()

    @Test("A log does not grow for ever, and nothing is lost: for newcomers, for watches that resume, for the stopped")
    func compaction() async throws {
        let view = log.open()
        var options = LogGroupOptions.ofMemory
        options.clock = ManualClock()
        let stopped = try await ReplicatedGroup.open(log: view, options: options)
        let writer = try await log.join(clock: options.clock)
        let watch = try await stopped.watch(.all, from: .now)
        view.stop()

        try await writer.put("kept", [7])
        var last = Revision.zero
        for number in 0..<100 as Range<UInt8> {
            last = try await writer.put("large", [UInt8](repeating: number, count: 64 << 10)).revision
        }
        try await eventually("it is compacted") { log.start > 0 }
        // The rest is little more than the snapshot and a MiB.
        #expect(log.records.reduce(0) { $0 + $1.count } < 4 << 20)

        let newcomer = try await log.join(clock: options.clock)
        #expect(try await newcomer.get("kept")?.value == [7])
        #expect(try await newcomer.get("large")?.value.first == 99)
        let resumed = try await newcomer.watch(.all, from: .after(Revision(rawValue: last.rawValue - 1)))
        let resumption = try await withTimeout(TestTimeout.usual, "it resumes") { try await resumed.next() }
        guard case .changes(let change)? = resumption else {
            Issue.record("The watch does not resume: \(String(describing: resumption))")
            return
        }
        #expect(change.revision == last)

        view.continue()
        #expect(try await stopped.get("large")?.value.first == 99)
        let mirror = try await withTimeout(TestTimeout.usual, "its watch has seen the last") {
            var mirror: [Key: UInt8] = [:]
            while mirror["large"] != 99 || mirror["kept"] != 7 {
                switch try await watch.next() {
                case .snapshot(let snapshot)?, .lagged(let snapshot)?:
                    mirror = snapshot.entries.reduce(into: [:]) { $0[$1.key] = $1.value.first }
                case .changes(let changes)?:
                    for change in changes.changes { mirror[change.key] = change.new?.value.first }
                case nil: return mirror
                }
            }
            return mirror
        }
        #expect(mirror == ["kept": 7, "large": 99])
        for group in [stopped, writer, newcomer] { await group.close() }
    }
}
