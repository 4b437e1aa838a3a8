internal import Coordination
internal import ProgramOutput

/// What a soak counted: from what the processes printed, from the timeline, its checker and the witness.
struct SoakSummary: Sendable {
    let backend: String
    let seed: UInt64
    let count: SoakCount
    /// How many cores the soak has started, also those of processes that were killed.
    let coreStarts: Int
    /// What went wrong, for people.
    let problems: [String]
    let report: CheckReport

    /// Whether all went as it must.
    var isClean: Bool { problems.isEmpty && count.lost == 0 && count.duplicates == 0 && report.isClean }

    var json: JSONObject {
        [
            "event": "summary", "backend": .text(backend), "seed": .natural(seed),
            "pushes": .integer(Int64(count.pushes)), "delivered": .integer(Int64(count.delivered)),
            "lost": .integer(Int64(count.lost)), "duplicates": .integer(Int64(count.duplicates)),
            "coreStarts": .integer(Int64(coreStarts)), "kills": .integer(Int64(count.kills)),
            "freezes": .integer(Int64(count.freezes)), "mains": .integer(Int64(count.mains)),
            "overlaps": .integer(Int64(report.overlaps)),
            "supersededOverlaps": .integer(Int64(report.supersededOverlaps)),
            "violations": .integer(Int64(report.violations.count)),
            "problems": problems.isEmpty ? .null : .text(problems.joined(separator: "; ")), "ok": .flag(isClean),
        ]
    }

    /// The summary for people.
    var text: String {
        var lines = [
            "", "── What was counted, with the seed \(seed)",
            "  pushes                 \(count.pushes), for \(count.messages) messages",
            "  Mains                  \(count.mains)",
            "  killed, frozen         \(count.kills), \(count.freezes)",
            "  core starts            \(coreStarts)",
            "  messages delivered     \(count.delivered)",
            "  lost, twice            \(count.lost), \(count.duplicates)",
            "  two cores at once      \(report.overlaps) (the witness; superseded ones: \(report.supersededOverlaps))",
            "  rules broken           \(report.violations.count) (the checker)",
        ]
        lines += problems.map { "  \($0)" } + report.violations.map { "  \($0)" }
        lines.append(isClean ? "\nAs it should be." : "\nThis is not as it should be.")
        return lines.joined(separator: "\n")
    }
}
