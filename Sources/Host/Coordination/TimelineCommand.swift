internal import ArgumentParser
internal import Coordination
internal import CoreAPI
internal import Logging

/// `timeline`: what happened to the ownership of the core.
struct TimelineCommand: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "timeline", abstract: "Print what happened to the ownership of the core.",
        discussion: """
            A line for each event: when, who, what, and why; on a terminal in colour, unless NO_COLOR is set. Its JSON lines \
            are what “check FILE” reads.
            """)

    @OptionGroup var global: GlobalOptions

    @Flag(help: "Go on with what happens, until stopped.")
    var follow = false

    func run(in context: CommandContext) async throws {
        if !follow {
            return try await context.withPresentGroup(for: "timeline") { group in
                try await print(try await Timeline(group).history(), in: context)
            }
        }
        // It may come before the group.
        try await context.withGroup(for: "timeline") { group in
            let follower = try await Timeline(group).follow()
            // Nothing may happen for hours, in which nobody would notice that nobody reads.
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
