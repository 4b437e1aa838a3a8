internal import ArgumentParser
internal import Coordination
internal import CoreAPI
internal import FoundationEssentials
internal import Logging
internal import ProgramOutput
internal import SharedCoreConfiguration

/// `timeline`: prints the history of the core's ownership.
struct TimelineCommand: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "timeline", abstract: "Print what happened to the ownership of the core.",
        discussion: HelpPage.text(
            """
            Prints a line for each event: its time, the participant, the action and the reason; on a terminal in colour, \
            unless NO_COLOR is set. “check FILE” reads its JSON lines.
            """, examples: ["sharedcore timeline --follow"]))

    @OptionGroup(visibility: GlobalOptions.visibility) var global: GlobalOptions

    @Flag(help: "Continue with each new entry, until stopped.")
    var follow = false

    func run(in context: CommandContext) async throws {
        if !follow {
            return try await context.withReader(for: "timeline") { group in
                try await print(try await Timeline(group).history(), in: context)
            }
        }
        // The command may run before the group exists.
        try await context.withGroup(for: "timeline") { group in
            let follower = try await Timeline(group).follow()
            // Watch the output as well: entries may not come for hours, and a closed output would go unnoticed until
            // then.
            try await context.output.whileRead { try await Self.print(follower, in: context) }
        }
    }

    private func print(_ history: TimelineHistory, in context: CommandContext) async throws {
        let line = TimelineLine(clock: WallTime(), paint: .forOutput(in: context.resolution.environment))
        if let checkpoint = history.checkpoint {
            try await context.output.emit(text: line.text(checkpoint), json: line.json(checkpoint))
        }
        for damage in history.damages {
            try await context.output.emit(text: line.text(damage), json: line.json(damage))
        }
        for record in history.records {
            try await context.output.emit(text: line.text(record), json: line.json(record))
        }
    }

    private static func print(_ follower: TimelineFollower, in context: CommandContext) async throws {
        let paint = Paint.forOutput(in: context.resolution.environment)
        context.logger.info("following")
        for try await event in follower {
            // The wall clock may have been set since the last line.
            let line = TimelineLine(clock: WallTime(), paint: paint)
            switch event {
            case .record(let record):
                try await context.output.emit(text: line.text(record), json: line.json(record))
            case .dropped(let checkpoint):
                try await context.output.emit(text: line.text(checkpoint), json: line.json(checkpoint))
            case .damaged(let damage):
                try await context.output.emit(text: line.text(damage), json: line.json(damage))
            }
        }
    }
}

/// The output lines of the timeline.
struct TimelineLine: Sendable {
    let clock: WallTime
    var paint = Paint.none

    /// Returns an entry as a line for people: its local date and time, and one sentence.
    func text(_ record: TimelineRecord) -> PaintedText {
        paint.dim(clock.localText(of: record.entry.at, in: record.entry.bootID)) + "  "
            + paint.in(record.entry.kind.color, ValueText.oneLine(record.entry.describe()))
    }

    /// Returns all fields of an entry; null for those that it does not have.
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
            "boundMs": entry.bound.map { .natural($0.wholeMilliseconds) } ?? .null,
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
    /// The colour on a terminal, by the kind of entry: beginnings, ends, requests, and failures.
    fileprivate var color: Paint.Color {
        switch self {
        case .acquired, .tookOver, .coreStarted, .batonApplied: .green
        case .released, .coreStopped, .batonOffered: .blue
        case .asked, .challenged, .refused, .pushEnded, .pushForgotten, .batonFailed, .batonExpired: .yellow
        case .killed, .fenced, .coreGivenUp, .supersededOverlap: .magenta
        case .overlap, .problem: .red
        case .woken, .operated: .yellow
        case .stateChanged, .pushHandled, .rested, .resumed, .unknown: .plain
        }
    }
}
