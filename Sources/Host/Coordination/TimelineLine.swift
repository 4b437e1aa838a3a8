internal import Coordination
internal import CoreAPI
internal import FoundationEssentials
internal import ProgramOutput

/// The lines in which the timeline is shown.
struct TimelineLine: Sendable {
    let clock: WallTime
    var paint = Paint.none

    /// The local date and time, and one sentence.
    func text(_ record: TimelineRecord) -> PaintedText {
        paint.dim(clock.localText(of: record.entry.at, in: record.entry.bootID)) + "  "
            + paint.in(record.entry.kind.color, ValueText.oneLine(record.entry.describe()))
    }

    /// All fields of an entry; null where there is none.
    func json(_ record: TimelineRecord) -> JSONObject {
        let entry = record.entry
        return [
            "event": .text("\(entry.kind)"),
            "revision": .natural(record.revision.rawValue),
            "at": .optional(clock.text(of: entry.at, in: entry.bootID)),
            "atNanoseconds": .natural(entry.at.nanoseconds),
            "bootID": .text(entry.bootID.description),
            "session": .text(entry.participant.description),
            "role": .text(entry.role.rawValue),
            "name": .text(entry.name),
            "pid": .integer(Int64(entry.pid)),
            "epoch": entry.epoch.map { .natural($0.rawValue) } ?? .null,
            "other": entry.other.map { .natural($0.rawValue) } ?? .null,
            "from": .optional(entry.from?.description),
            "to": .optional(entry.to?.description),
            "previousEpoch": entry.previous.map { .natural($0.epoch.rawValue) } ?? .null,
            "previousEnd": .optional(entry.previous.map { "\($0.end)" }),
            "boundMs": entry.bound.map { .natural($0.clampedNanoseconds / 1_000_000) } ?? .null,
            "reason": .text(entry.reason),
        ]
    }

    func text(_ checkpoint: TimelineCheckpoint) -> PaintedText {
        paint.dim("(" + checkpoint.describe() + ")")
    }

    func json(_ checkpoint: TimelineCheckpoint) -> JSONObject {
        [
            "event": "dropped", "revision": .natural(checkpoint.through.rawValue),
            "count": .integer(Int64(checkpoint.droppedCount)), "reason": .text(checkpoint.describe()),
            "checkpoint": .text(Data(checkpoint.encoded()).base64EncodedString()),
        ]
    }

    func text(_ violation: Violation) -> PaintedText {
        paint.in(
            .red,
            ValueText.oneLine(
                "Violation of \(violation.rule.rawValue) at revision \(violation.revision): \(violation.sentence)"))
    }

    func json(_ violation: Violation) -> JSONObject {
        [
            "event": "violation", "rule": .text(violation.rule.rawValue),
            "revision": .natural(violation.revision.rawValue), "reason": .text(violation.sentence),
        ]
    }
}

extension TimelineEntry.Kind {
    /// In which colour a terminal shows it: what begins, what ends, what is asked, what is wrong.
    fileprivate var color: Paint.Color {
        switch self {
        case .acquired, .tookOver, .coreStarted: .green
        case .released, .coreStopped: .blue
        case .asked, .challenged, .refused: .yellow
        case .killed, .fenced, .coreGivenUp, .supersededOverlap: .magenta
        case .overlap, .problem: .red
        case .stateChanged: .plain
        }
    }
}
