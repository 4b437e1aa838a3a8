internal import Coordination
internal import ProgramOutput

/// The counts of a soak: from the lines that the processes printed, from the timeline, its checker and the witness.
struct SoakSummary: Sendable {
    let backend: String
    let seed: UInt64
    let count: SoakCount
    /// The number of cores that the soak has started, including those of killed processes.
    let coreStarts: Int
    /// The problems, for people.
    let problems: [String]
    let report: CheckReport

    /// True if there was no problem, no message was lost or duplicated, and the checker found no violation.
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
    var lines: [String] {
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
        return lines + ["", isClean ? "As it should be." : "This is not as it should be."]
    }
}

/// The actions of a soak, and their results.
struct SoakCount: Hashable, Sendable, CustomStringConvertible {
    /// Executors that were started.
    var pushes = 0
    /// The number of messages that were sent, each with its own call-id.
    var messages = 0
    /// The number of call-ids with a text that was shown.
    var delivered = 0
    /// Messages that were shown again although the process that showed them had ended well.
    var duplicates = 0
    /// The number of processes that SIGKILL ended, for any reason.
    var kills = 0
    /// The number of processes that were killed as owners: each was stopped, then seen to own, then killed.
    var owners = 0
    /// The number of processes that killed themselves at a fail point inside of a write.
    var writers = 0
    /// The number of processes that killed themselves between the commit of a message and its acknowledgement to the
    /// server.
    var cores = 0
    /// Messages that were set aside, because three processes were killed while they read each, and then tried again.
    var setAside = 0
    /// Participants that were stopped and continued.
    var freezes = 0
    /// Mains that were switched on.
    var mains = 0
    var rounds = 0

    /// The number of call-ids with a text that no process showed.
    var lost: Int { messages - delivered }

    var description: String {
        "\(pushes) pushes for \(messages) messages in \(rounds) rounds, \(mains) Mains, \(freezes) freezes, \(kills) kills "
            + "(\(owners) owners, \(writers) inside a write, \(cores) between commit and acknowledgement), "
            + "\(setAside.counting("message")) set aside"
    }
}

/// One line on standard error with the progress of a soak. For terminals only.
struct SoakProgress: Sendable {
    let minutes: Double
    private let clock = ContinuousClock()
    private let begin = ContinuousClock().now

    init(minutes: Double) {
        self.minutes = minutes
    }

    func show(_ count: SoakCount) {
        let percent = min(100, Int(begin.duration(to: clock.now) / .seconds(minutes * 60) * 100))
        ProgressBar.show("\(percent) %: \(count)")
    }
}
