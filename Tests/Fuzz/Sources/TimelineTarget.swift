internal import CoreAPI

@testable internal import Coordination

/// The entries of a timeline, each behind two bytes of length; the first one is the checkpoint if its length is odd.
enum TimelineTarget {
    static let shape = LengthShape(prefixByteCount: 0)

    static func run(_ input: [UInt8]) {
        requireStable(input, { try TimelineEntry(decoding: $0) }, { $0.encoded() })
        requireStable(input, { try TimelineCheckpoint(decoding: $0) }, { $0.encoded() })
        var rest = input[...]
        var entries: [Entry] = []
        while rest.count >= 2, entries.count < 64 {
            let word = Int(rest[rest.startIndex]) | Int(rest[rest.startIndex + 1]) << 8
            rest = rest.dropFirst(2)
            let value = Array(rest.prefix(word & 0xfff))
            rest = rest.dropFirst(value.count)
            let revision = Revision(rawValue: UInt64(entries.count / 2) + 3)
            let isCheckpoint = entries.isEmpty && word & 0x8000 != 0
            guard let key = isCheckpoint ? Timeline.checkpointKey : try? Key("\(Timeline.path)/\(entries.count)") else {
                return
            }
            let origin = (try? TimelineEntry(decoding: value))?.participant ?? SessionID(rawValue: 1)
            entries.append(
                Entry(
                    key: key, value: value, revision: revision,
                    creationRevision: word & 0x4000 != 0 ? Revision(rawValue: 1) : revision, lifetime: .persistent,
                    origin: word & 0x2000 != 0 ? SessionID(rawValue: 7) : origin))
        }
        let snapshot = Snapshot(revision: Revision(rawValue: 100), entries: entries)
        let history = TimelineHistory(snapshot)
        let report = TimelineChecker.check(history)
        require(report == TimelineChecker.check(history), "a check has two results")
        _ = report.describe()
        for violation in report.violations { _ = violation.description }
        _ = history.supersededEpochs
        _ = history.checkpoint?.describe()
        for record in history.records { _ = record.entry.describe() }
        var ledger = history.checkpoint?.ledger ?? OwnershipLedger()
        for record in history.records { _ = ledger.apply(record) }
        let checkpoint = TimelineCheckpoint(
            through: Revision(rawValue: 99), droppedCount: entries.count, ledger: ledger)
        require(
            TimelineCheckpoint(saved: checkpoint.encoded()) != nil, "the checkpoint of a ledger cannot be read")
        var reading = TimelineReading()
        reading.add(.snapshot(snapshot))
        while reading.next() != nil {}
    }
}
