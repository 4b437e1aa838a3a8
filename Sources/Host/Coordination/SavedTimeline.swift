internal import Coordination
internal import CoreAPI
internal import FoundationEssentials

/// A timeline as `timeline --json` printed it: what is kept of a group that is gone, or sent to somebody else.
struct SavedTimeline {
    /// The stretches without a gap: a line that says that entries were dropped begins a new one with what they added up to.
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

    /// What all stretches prove: every rule that one of them shows broken, from the checkpoint of the last one on.
    var report: CheckReport {
        let reports = histories.map(TimelineChecker.check)
        return CheckReport(
            entryCount: reports.reduce(0) { $0 + $1.entryCount }, violations: reports.flatMap(\.violations),
            // The checkpoints carry the counts of what lies before them.
            overlaps: reports.last?.overlaps ?? 0, supersededOverlaps: reports.last?.supersededOverlaps ?? 0,
            unprovedThrough: reports.last?.unprovedThrough)
    }
}
