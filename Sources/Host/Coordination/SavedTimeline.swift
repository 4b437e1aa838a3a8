internal import Coordination
internal import CoreAPI
internal import FoundationEssentials

/// A timeline that `timeline --json` printed: kept from a group that no longer exists, or received from another person.
struct SavedTimeline {
    /// The parts without a gap. A line about dropped entries begins a new part with their checkpoint.
    private(set) var histories: [TimelineHistory] = []

    /// Reads the lines of a file.
    init(_ text: String, in file: String) throws(CommandFailure) {
        var stretch = Stretch()
        for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
        where !line.isEmpty {
            let place = "\(file):\(number + 1)"
            let parsed: SavedLine
            do {
                parsed = try JSONDecoder().decode(SavedLine.self, from: Data(line.utf8))
            } catch {
                throw .usage("\(place): this is no line of “timeline --json”")
            }
            switch parsed.event {
            case "dropped":
                guard let bytes = parsed.checkpoint.flatMap({ Data(base64Encoded: $0) }),
                    let checkpoint = TimelineCheckpoint(saved: Array(bytes))
                else { throw .usage("\(place): the field “checkpoint” is missing or cannot be read") }
                if !stretch.isEmpty { histories.append(stretch.history) }
                stretch = Stretch(checkpoint: checkpoint)
            case "violation":
                guard let rule = parsed.rule.flatMap(Violation.Rule.init) else {
                    throw .usage("\(place): the field “rule” is missing or names no rule")
                }
                stretch.damages.append(
                    Violation(rule, at: Revision(rawValue: parsed.revision), parsed.reason ?? ""))
            default:
                stretch.records.append(try parsed.record(at: place))
            }
        }
        if !stretch.isEmpty || histories.isEmpty { histories.append(stretch.history) }
    }

    private struct Stretch {
        var checkpoint: TimelineCheckpoint?
        var records: [TimelineRecord] = []
        var damages: [Violation] = []

        var isEmpty: Bool { checkpoint == nil && records.isEmpty && damages.isEmpty }
        var history: TimelineHistory { TimelineHistory(records: records, checkpoint: checkpoint, damages: damages) }
    }

    /// The report on all parts: every violation in any of them, and the counts of the last one. The checkpoint of the
    /// last part includes the counts of all earlier entries.
    var report: CheckReport {
        let reports = histories.map(TimelineChecker.check)
        return CheckReport(
            entryCount: reports.reduce(0) { $0 + $1.entryCount }, violations: reports.flatMap(\.violations),
            // The checkpoints contain the counts of the entries before them.
            overlaps: reports.last?.overlaps ?? 0, supersededOverlaps: reports.last?.supersededOverlaps ?? 0,
            unprovedThrough: reports.last?.unprovedThrough)
    }
}

/// A line of `timeline --json`.
struct SavedLine: Decodable {
    let event: String
    let revision: UInt64
    let atNanoseconds: UInt64?
    let bootID: String?
    let session: String?
    let role: String?
    let name: String?
    let pid: Int32?
    let epoch: UInt64?
    let other: UInt64?
    let from: String?
    let to: String?
    let previousEpoch: UInt64?
    let previousEnd: String?
    let boundMs: UInt64?
    let reason: String?
    /// The checkpoint that sums up the dropped entries, in Base64.
    let checkpoint: String?
    /// The rule that a damaged entry breaks.
    let rule: String?

    /// Returns the entry that the line describes.
    func record(at place: String) throws(CommandFailure) -> TimelineRecord {
        func needed<Value>(_ value: Value?, _ field: String) throws(CommandFailure) -> Value {
            guard let value else { throw .usage("\(place): the field “\(field)” is missing or wrong") }
            return value
        }
        let boot = try needed(bootID.flatMap(BootID.init(hexadecimal:)), "bootID")
        let at = BootInstant(nanoseconds: try needed(atNanoseconds, "atNanoseconds"))
        let participant = Session(
            id: SessionID(rawValue: try needed(session.flatMap { UInt64($0) }, "session")),
            process: ProcessIdentity(bootID: boot, pid: try needed(pid, "pid"), startTime: 0),
            role: SessionRole(rawValue: try needed(role, "role")), name: name ?? "", openedAt: at)
        var previous: PreviousOwnership?
        if let previousEpoch {
            let end = OwnershipEndReason.allCases.first { "\($0)" == previousEnd }
            previous = PreviousOwnership(
                epoch: Revision(rawValue: previousEpoch), end: try needed(end, "previousEnd"))
        }
        let kind = TimelineEntry.Kind.allCases.first { "\($0)" == event }
        let entry = TimelineEntry(
            try needed(kind, "event"), by: participant, epoch: epoch.map { Revision(rawValue: $0) },
            other: other.map { Revision(rawValue: $0) },
            from: try state(from, "from", needed), to: try state(to, "to", needed), previous: previous,
            bound: boundMs.map { .milliseconds(Int64(clamping: $0)) }, reason: reason ?? "", at: at, bootID: boot)
        return TimelineRecord(revision: Revision(rawValue: revision), entry: entry)
    }

    private func state(
        _ text: String?, _ field: String, _ needed: (OwnerState?, String) throws(CommandFailure) -> OwnerState
    ) throws(CommandFailure) -> OwnerState? {
        guard let text else { return nil }
        return try needed(OwnerState.allCases.first { $0.description == text }, field)
    }
}
