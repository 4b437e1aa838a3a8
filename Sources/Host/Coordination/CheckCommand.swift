internal import ArgumentParser
internal import Coordination
internal import CoreAPI
internal import ProgramOutput

/// `check`: proves the rules of ownership on the timeline.
struct CheckCommand: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Prove the rules of ownership on the timeline.",
        discussion: "Status 1 when a rule is broken, or two cores ran that both had a right to.")

    @OptionGroup var global: GlobalOptions

    func run(in context: CommandContext) async throws {
        try await context.withGroup(for: "check") { group in
            let report = TimelineChecker.check(try await Timeline(group).history())
            let line = TimelineLine(clock: WallTime())
            for violation in report.violations {
                try await context.output.emit(text: line.text(violation), json: line.json(violation))
            }
            try await context.output.emit(text: report.describe(), json: Self.json(report))
            guard report.isClean else { throw CommandFailure(.no) }
        }
    }

    /// The last line: what was read, and what it proves.
    static func json(_ report: CheckReport) -> JSONObject {
        [
            "event": "summary", "entries": .integer(Int64(report.entryCount)),
            "violations": .integer(Int64(report.violations.count)),
            "overlaps": .integer(Int64(report.overlaps)),
            "supersededOverlaps": .integer(Int64(report.supersededOverlaps)),
            "unprovedThrough": report.unprovedThrough.map { .natural($0.rawValue) } ?? .null,
            "ok": .flag(report.isClean),
        ]
    }
}
