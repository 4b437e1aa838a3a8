internal import Coordination
internal import CoreAPI
internal import ProgramOutput
internal import Synchronization

/// The counts of the demo: from the lines that the Executors printed, from the timeline, its checker and the witness.
struct DemoSummary: Sendable {
    let backend: String
    let pushes: Int
    let coreStarts: Int
    /// The number of pushes for which the Executor printed the right message.
    let delivered: Int
    /// The number of messages that were printed more than once.
    let duplicates: Int
    let report: CheckReport
    let handover: Duration
    let takeover: Duration

    /// The number of pushes for which the Executor did not print the right message.
    var lost: Int { pushes - delivered }

    /// True if no message was lost or duplicated, and the checker found no violation.
    var isClean: Bool { lost == 0 && duplicates == 0 && report.isClean }

    var json: JSONObject {
        [
            "event": "summary", "backend": .text(backend), "pushes": .integer(Int64(pushes)),
            "coreStarts": .integer(Int64(coreStarts)), "delivered": .integer(Int64(delivered)),
            "lost": .integer(Int64(lost)), "duplicates": .integer(Int64(duplicates)),
            "overlaps": .integer(Int64(report.overlaps)),
            "supersededOverlaps": .integer(Int64(report.supersededOverlaps)),
            "violations": .integer(Int64(report.violations.count)), "handoverMs": .number(handover.milliseconds),
            "takeoverMs": .number(takeover.milliseconds), "ok": .flag(isClean),
        ]
    }

    /// The summary for people.
    var lines: [String] {
        var lines = [
            "", "── What was counted", "  pushes                 \(pushes)",
            "  core starts            \(coreStarts)", "  messages delivered     \(delivered)",
            "  lost, twice            \(lost), \(duplicates)",
            "  two cores at once      \(report.overlaps) (the witness; superseded ones: \(report.supersededOverlaps))",
            "  rules broken           \(report.violations.count) (the checker, over \(report.entryCount.counting("entry", "entries")))",
            "  hand-over to Main      \(handover.milliseconds) ms",
            "  take-over after a kill \(takeover.milliseconds) ms",
        ]
        lines += report.violations.map { "  \($0)" }
        return lines + ["", isClean ? "As it should be." : "This is not as it should be."]
    }
}

extension Duration {
    /// The duration in milliseconds, to the hundredth.
    fileprivate var milliseconds: Double {
        Double(clampedNanoseconds / 10_000) / 100
    }
}

/// Counts the lines that the Executors of the demo printed.
final class DemoTally: Sendable {
    private struct State {
        var pushes = 0
        /// The messages that were printed, by call-id.
        var printed: [String: [String]] = [:]
        /// The text to print, by call-id.
        var expected: [String: String] = [:]
    }

    private let state = Mutex(State())

    /// Counts a push.
    func add(_ mail: DemoMail) {
        state.withLock { state in
            state.pushes += 1
            state.expected[mail.callID.text] = mail.text
        }
    }

    /// Counts a line.
    func add(_ line: ExecutorLine) {
        guard line.event == "message" else { return }
        state.withLock { $0.printed[line.callID, default: []].append(line.text ?? "") }
    }

    var pushes: Int { state.withLock { $0.pushes } }

    /// The number of call-ids for which the expected text was printed.
    var delivered: Int {
        state.withLock { state in
            state.expected.count { state.printed[$0.key]?.contains($0.value) == true }
        }
    }

    /// The number of messages that were printed beyond the first of a call-id.
    var duplicates: Int {
        state.withLock { state in state.printed.values.reduce(0) { $0 + $1.count - 1 } }
    }
}
