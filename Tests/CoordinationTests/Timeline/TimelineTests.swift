import CoreAPI
import CoreAPITesting
import InMemoryBackend
import TestSupport
import Testing

@testable import Coordination

@Suite("Timeline: bounded entries in the store (C15)")
struct TimelineTests {
    private let space = MemorySpace(clock: ManualClock())

    private func open(_ role: SessionRole = .executor) async throws -> MemoryGroup {
        try await space.open("group", as: SessionDescription(role: role, name: "test"))
    }

    private func entry(
        _ kind: TimelineEntry.Kind, by store: any SharedStore, epoch: Revision? = nil,
        previous: PreviousOwnership? = nil, reason: String = ""
    ) -> TimelineEntry {
        TimelineEntry(
            kind, by: store.session, epoch: epoch, previous: previous, reason: reason,
            at: BootInstant(nanoseconds: 5_000_000), bootID: BootID(high: 1, low: 2))
    }

    @discardableResult
    private func write(_ entries: TimelineEntry..., to store: any SharedStore) async throws -> Revision {
        var transaction = Transaction()
        for entry in entries { try Timeline(store).append(entry, to: &transaction) }
        return try await store.commit(transaction).revision
    }

    @Test("an entry is read as it was written, with any content")
    func coding() throws {
        let session = Session(
            id: SessionID(rawValue: .max),
            process: ProcessIdentity(bootID: BootID(high: 1, low: 2), pid: -1, startTime: 0),
            role: SessionRole(rawValue: "…"), name: "naïve\u{0}", openedAt: BootInstant(nanoseconds: 0))
        for kind in TimelineEntry.Kind.allCases {
            for state in [nil] + OwnerState.allCases.map(Optional.some) {
                for end in [nil] + OwnershipEndReason.allCases.map(Optional.some) {
                    let entry = TimelineEntry(
                        kind, by: session, epoch: state == nil ? nil : Revision(rawValue: .max),
                        other: end == nil ? nil : Revision(rawValue: 1), from: state, to: state,
                        previous: end.map { PreviousOwnership(epoch: Revision(rawValue: 300), end: $0) },
                        bound: end == nil ? nil : .milliseconds(1), reason: "because",
                        at: BootInstant(nanoseconds: .max), bootID: BootID(high: .max, low: 0))
                    #expect(try TimelineEntry(decoding: entry.encoded()) == entry)
                }
            }
        }
    }

    @Test("E2: no cut or changed byte of an entry stops the reader")
    func damagedCoding() async throws {
        let store = try await open()
        let bytes = entry(
            .acquired, by: store, previous: PreviousOwnership(epoch: Revision(rawValue: 3), end: .released),
            reason: "because"
        ).encoded()
        for count in 0..<bytes.count {
            #expect(throws: (any Error).self) { try TimelineEntry(decoding: Array(bytes[..<count])) }
        }
        for index in bytes.indices {
            for value in [0, 1, 0x7f, 0x80, 0xff] as [UInt8] {
                var changed = bytes
                changed[index] = value
                if let read = try? TimelineEntry(decoding: changed) { #expect(read.encoded().count <= bytes.count) }
            }
        }
    }

    @Test("a long reason is cut at a character")
    func longReason() async throws {
        let store = try await open()
        let long = entry(.problem, by: store, reason: String(repeating: "é", count: 400))
        #expect(long.reason == String(repeating: "é", count: 256))
        // From the end, each step would go through all of them to find where a flag of two begins.
        let flags = entry(.problem, by: store, reason: String(repeating: "\u{1F1E6}", count: 200_000))
        #expect(flags.reason == String(repeating: "\u{1F1E6}", count: 128))
    }

    @Test("every kind tells itself in one sentence that names who and what")
    func sentences() async throws {
        let store = try await open(.main)
        var sentences: Set<String> = []
        for kind in TimelineEntry.Kind.allCases {
            let sentence = TimelineEntry(
                kind, by: store.session, epoch: Revision(rawValue: 12), other: Revision(rawValue: 34),
                from: .starting, to: .running, bound: .milliseconds(500), at: BootInstant(nanoseconds: 0),
                bootID: BootID(high: 0, low: 0)
            ).describe()
            #expect(sentence.hasPrefix("Main “test” (pid "))
            #expect(sentence.hasSuffix("."))
            #expect(
                sentence.contains("12") || sentence.contains("34")
                    || [.problem, .pushEnded, .pushForgotten, .operated, .unknown].contains(kind))
            sentences.insert(sentence)
        }
        #expect(sentences.count == TimelineEntry.Kind.allCases.count)
    }

    @Test("an acquisition's epoch is the revision of its commit")
    func epoch() async throws {
        let store = try await open()
        let revision = try await write(entry(.acquired, by: store), to: store)
        let record = try #require(try await Timeline(store).history().records.first)
        #expect(record.revision == revision)
        #expect(record.entry.epoch == revision)
    }

    @Test("entries come in the order of their commits, and within one in the order of their writing")
    func order() async throws {
        let stores = try await [open(), open(), open()]
        var written: [String] = []
        for round in 0..<40 {
            let store = stores[(round * 7) % 3]
            try await write(
                entry(.coreStopped, by: store, reason: "\(round) a"), entry(.problem, by: store, reason: "\(round) b"),
                to: store)
            written += ["\(round) a", "\(round) b"]
        }
        #expect(try await Timeline(stores[0]).history().records.map(\.entry.reason) == written)
    }

    @Test("C5: the tenure tells exactly how the last ownership ended")
    func tenure() async throws {
        let store = try await open()
        let timeline = Timeline(store)
        #expect(try await timeline.tenure() == nil)
        let epoch = try await write(entry(.acquired, by: store), to: store)
        let open = try #require(try await timeline.tenure())
        #expect(open.previous == PreviousOwnership(epoch: epoch, end: .sessionEnded))
        try await write(entry(.released, by: store, epoch: epoch), to: store)
        let released = try #require(try await timeline.tenure())
        #expect(released.previous == PreviousOwnership(epoch: epoch, end: .released))

        var stale = Transaction()
        timeline.requireUnchanged(open, in: &stale)
        var fresh = Transaction()
        timeline.requireUnchanged(released, in: &fresh)
        var first = Transaction()
        timeline.requireUnchanged(nil, in: &first)
        for (transaction, expected) in [(stale, SharedCoreError.Code.guardFailed), (first, .guardFailed), (fresh, nil)]
        {
            #expect(try await code { try await store.commit(transaction) } == expected)
        }
    }

    @Test("C15: past its capacity the oldest are dropped, and the checkpoint stands for them")
    func trimming() async throws {
        let store = try await open()
        let timeline = Timeline(store, capacity: 16)
        for number in 0..<16 { try await write(entry(.problem, by: store, reason: "\(number)"), to: store) }
        #expect(try await !timeline.trim())
        let epoch = try await write(entry(.acquired, by: store), to: store)
        #expect(try await timeline.trim())
        let history = try await timeline.history()
        #expect(history.records.count == 8)
        #expect(history.checkpoint?.droppedCount == 9)
        #expect(history.records.last?.entry.epoch == epoch)

        for number in 0..<9 { try await write(entry(.problem, by: store, reason: "\(number)"), to: store) }
        #expect(try await timeline.trim())
        let later = try await timeline.history()
        #expect(later.records.count == 8)
        #expect(later.checkpoint?.droppedCount == 18)
        #expect(later.checkpoint?.ledger.owner?.epoch == epoch, "who owned then is known")
    }

    @Test("C15: what lies before the checkpoint is said to be unproved, and what follows is judged by it")
    func checkpoint() async throws {
        let (store, other) = try await (open(), open())
        let timeline = Timeline(store, capacity: 16)
        let epoch = try await write(entry(.acquired, by: store), to: store)
        for _ in 0..<16 { try await write(entry(.problem, by: store), to: store) }
        #expect(TimelineChecker.check(try await timeline.history()).unprovedThrough == nil)
        #expect(try await timeline.trim())

        let clean = TimelineChecker.check(try await timeline.history())
        #expect(clean.violations == [])
        let unproved = try #require(clean.unprovedThrough)
        #expect(unproved >= epoch)
        #expect(clean.describe().contains("unproved"))

        try await write(entry(.acquired, by: other), to: other)
        #expect(TimelineChecker.check(try await timeline.history()).violations.map(\.rule) == [.c1])
    }

    @Test("C15: several that trim at once drop each entry once, and lose none that is written meanwhile")
    func trimmingRace() async throws {
        let keeper = try await open()
        var stores: [MemoryGroup] = []
        for _ in 0..<4 { stores.append(try await open()) }
        _ = try await together(4) { [stores] number in
            let timeline = Timeline(stores[number], capacity: 32)
            for _ in 0..<60 {
                var transaction = Transaction()
                try timeline.append(self.entry(.problem, by: stores[number]), to: &transaction)
                _ = try await stores[number].commit(transaction)
                try await timeline.trim()
            }
        }
        let history = try await Timeline(keeper, capacity: 32).history()
        #expect(history.records.count + (history.checkpoint?.droppedCount ?? 0) == 240)
        #expect(history.records.count <= 32 + 4)
        #expect(history.damages == [])
    }

    @Test("C15: a trim that another overtakes drops nothing, and its checkpoint does not replace the other's")
    func overtakenTrim() async throws {
        let (store, other) = try await (open(), open())
        for _ in 0..<40 { try await write(entry(.problem, by: store), to: store) }
        let slow = Timeline(
            InterposedStore(
                store,
                once: { () async throws(SharedCoreError) in
                    try await Timeline(other, capacity: 16).trim()
                }), capacity: 32)
        #expect(try await !slow.trim())
        let history = try await Timeline(other).history()
        #expect(history.records.count == 8)
        #expect(history.checkpoint?.droppedCount == 32)
    }

    @Test("C15: a checkpoint holds all that later entries are judged by", arguments: Seed.several(8))
    func checkpointIsExact(seed: Seed) throws {
        var random = SeededRandom(seed)
        let actors = (1...6).map { HistoryBuilder.Actor($0, $0 % 3 == 0 ? .main : .executor) }
        var builder = HistoryBuilder()
        for _ in 0..<200 {
            let epochs = builder.records.suffix(8).compactMap(\.entry.epoch)
            builder.now += UInt64.random(in: 0...300, using: &random)
            builder.add(
                TimelineEntry.Kind.allCases.randomElement(using: &random) ?? .problem,
                by: actors.randomElement(using: &random) ?? actors[0],
                epoch: Bool.random(using: &random) ? epochs.randomElement(using: &random) : nil,
                other: epochs.randomElement(using: &random), from: OwnerState.allCases.randomElement(using: &random),
                to: OwnerState.allCases.randomElement(using: &random),
                previous: epochs.randomElement(using: &random).map { epoch in
                    PreviousOwnership(
                        epoch: epoch, end: OwnershipEndReason.allCases.randomElement(using: &random) ?? .released)
                }, bound: .milliseconds(200))
        }
        let whole = builder.report
        for cut in stride(from: 0, to: 200, by: 9) {
            var ledger = OwnershipLedger()
            for record in builder.records[..<cut] { _ = ledger.apply(record) }
            let through = cut == 0 ? Revision.zero : builder.records[cut - 1].revision
            let written = TimelineCheckpoint(through: through, droppedCount: cut, ledger: ledger)
            let checkpoint = try TimelineCheckpoint(decoding: written.encoded())
            #expect(checkpoint == written)
            let rest = TimelineChecker.check(
                TimelineHistory(records: Array(builder.records[cut...]), checkpoint: checkpoint))
            #expect(rest.violations == whole.violations.filter { $0.revision > through })
            #expect((rest.overlaps, rest.supersededOverlaps) == (whole.overlaps, whole.supersededOverlaps))
        }
        #expect(!whole.violations.isEmpty)
    }

    @Test("C15: a checkpoint of version 1, which tells no processes, is read still")
    func formerCheckpoint() throws {
        var writer = ByteWriter()
        writer.byte(1)
        writer.integer(UInt64(90))  // through
        writer.integer(12)  // dropped
        writer.optional(UInt64?.none) { $0.integer($1) }  // owner
        writer.optional(UInt64(80)) { $0.integer($1) }  // the last epoch
        writer.array([UInt64(80)]) { writer, epoch in  // cores
            writer.integer(epoch)
            writer.integer(UInt64(7))
        }
        for _ in 1...4 { writer.array([UInt64]()) { $0.integer($1) } }  // superseded, ended, requests, challenges
        writer.integer(3)  // overlaps
        writer.integer(5)
        let checkpoint = try TimelineCheckpoint(decoding: writer.bytes)
        #expect(checkpoint.through == Revision(rawValue: 90))
        #expect(
            checkpoint.ledger.cores == [Revision(rawValue: 80): .init(participant: .init(rawValue: 7), process: nil)])
        #expect((checkpoint.ledger.overlaps, checkpoint.ledger.supersededOverlaps) == (3, 5))
        #expect(try TimelineCheckpoint(decoding: checkpoint.encoded()) == checkpoint)
    }

    @Test("C15: a checkpoint of version 3, which does not tell whether the owner has a lease, is read still")
    func checkpointWithoutLease() throws {
        func checkpoint(hasLease: Bool) -> TimelineCheckpoint {
            var history = HistoryBuilder()
            let actor = HistoryBuilder.Actor(7, .main)
            history.run(actor, history.add(.acquired, by: actor, to: .starting, bound: hasLease ? .seconds(3) : nil))
            var ledger = OwnershipLedger()
            for record in history.records { _ = ledger.apply(record) }
            return TimelineCheckpoint(through: Revision(rawValue: 90), droppedCount: 3, ledger: ledger)
        }
        var bytes = checkpoint(hasLease: true).encoded()
        let place = try #require(zip(bytes, checkpoint(hasLease: false).encoded()).enumerated().first { $1.0 != $1.1 })
        bytes.remove(at: place.offset)
        bytes[0] = 3
        #expect(try TimelineCheckpoint(decoding: bytes) == checkpoint(hasLease: false))
    }

    @Test("C15: entries that cannot be read, were rewritten, or written by another are damages")
    func damages() async throws {
        let (store, other) = try await (open(), open())
        try await store.put(".sharedcore/timeline/garbage", [1, 2, 3])
        try await store.put(".sharedcore/timeline/forged", entry(.problem, by: other).encoded())
        try await store.put(".sharedcore/timeline/twice", entry(.problem, by: store).encoded())
        try await store.put(".sharedcore/timeline/twice", entry(.problem, by: store).encoded())
        let report = TimelineChecker.check(try await Timeline(store).history())
        #expect(report.violations.map(\.rule) == [.c15, .c15, .c15])
        #expect(report.entryCount == 0)
    }

    @Test("C15: an entry of a kind that a later release adds is shown, and breaks no rule")
    func laterKind() async throws {
        let store = try await open()
        var bytes = entry(.operated, by: store, reason: "why").encoded()
        bytes[1] = 200
        try await store.put(".sharedcore/timeline/later", bytes)
        let history = try await Timeline(store).history()
        #expect(history.records.map(\.entry.kind) == [.unknown])
        #expect(history.records.map(\.entry.reason) == ["why"])
        #expect(TimelineChecker.check(history).violations.isEmpty)
    }

    @Test("following delivers the present entries, then each new entry once")
    func following() async throws {
        let (store, reader) = try await (open(), open())
        for number in 0..<5 { try await write(entry(.problem, by: store, reason: "\(number)"), to: store) }
        let follower = try await Timeline(reader).follow()
        let events = Box<[TimelineEvent]>([])
        let task = Task { for try await event in follower { events.update { $0.append(event) } } }
        for number in 5..<30 { try await write(entry(.problem, by: store, reason: "\(number)"), to: store) }
        try await eventually("all are delivered") { events.value.count >= 30 }
        follower.cancel()
        try await withTimeout(TestTimeout.usual, "the sequence ends") { try await task.value }
        let reasons = events.value.map { event in
            if case .record(let record) = event { record.entry.reason } else { "\(event)" }
        }
        #expect(reasons == (0..<30).map(String.init))
    }

    @Test("following that lags without a drop delivers the rest, each once")
    func followingSlowly() async throws {
        let store = try await open()
        for number in 0..<5 { try await write(entry(.problem, by: store, reason: "\(number)"), to: store) }
        var reading = TimelineReading()
        reading.add(.snapshot(try await store.list(Timeline.prefix)))
        for number in 5..<9 { try await write(entry(.problem, by: store, reason: "\(number)"), to: store) }
        reading.add(.lagged(try await store.list(Timeline.prefix)))
        var reasons: [String] = []
        while case .record(let record)? = reading.next() { reasons.append(record.entry.reason) }
        #expect(reasons == (0..<9).map(String.init))
    }

    @Test("following tells of entries that were dropped before they could be delivered")
    func followingLate() async throws {
        let store = try await open()
        for number in 0..<20 { try await write(entry(.problem, by: store, reason: "\(number)"), to: store) }
        var reading = TimelineReading()
        reading.add(.snapshot(try await store.list(Timeline.prefix)))
        var last = ""
        while case .record(let record)? = reading.next() { last = record.entry.reason }
        #expect(last == "19")

        for number in 20..<60 { try await write(entry(.problem, by: store, reason: "\(number)"), to: store) }
        try await Timeline(store, capacity: 16).trim()
        reading.add(.lagged(try await store.list(Timeline.prefix)))
        guard case .dropped(let checkpoint)? = reading.next() else {
            Issue.record("the gap is told")
            return
        }
        #expect(checkpoint.droppedCount == 52)
        var reasons: [String] = []
        while case .record(let record)? = reading.next() { reasons.append(record.entry.reason) }
        #expect(reasons == (52..<60).map(String.init))
    }
}
