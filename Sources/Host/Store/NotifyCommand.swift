internal import ArgumentParser
internal import CoreAPI
internal import Logging
internal import ProgramOutput
internal import SharedCoreConfiguration

/// `notify`: the notification centre.
struct NotifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "notify", abstract: "Wake other processes by name.",
        discussion: HelpPage.text(
            examples: ["sharedcore notify observe mail.arrived", "sharedcore notify post mail.arrived"]),
        subcommands: [NotifyPost.self, NotifyObserve.self, NotifyState.self])
}

/// `notify post`: wakes the observers of a name.
struct NotifyPost: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "post", abstract: "Wake the observers of a name.",
        usage: "sharedcore post [--state <state>] <name>\nsharedcore notify post [--state <state>] <name>",
        discussion: HelpPage.text(examples: ["sharedcore post mail.arrived", "sharedcore post mail.unread --state 3"]))

    @OptionGroup(visibility: GlobalOptions.visibility) var global: GlobalOptions

    @Argument(help: "The name.")
    var name: String

    @Option(help: "The new state word, 64 bits; without it the state word is unchanged.")
    var state: UInt64?

    func run(in context: CommandContext) async throws {
        let name = try NotificationName(name)
        try await context.withGroup(for: "notify post") { group in
            let revision = try await group.post(name, state: state)
            try await context.output.confirm(
                text: "revision \(revision)",
                json: ["name": .text(name.text), "revision": .natural(revision.rawValue)])
        }
    }
}

/// `notify observe`: prints the wakes of a name.
struct NotifyObserve: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "observe", abstract: "Print the posts of a name as they come.",
        discussion: HelpPage.text(
            """
            A line may stand for several posts and says for how many. Status 1 when the time is over before the wanted \
            number of posts, or any, has come.
            """, examples: ["sharedcore notify observe mail.arrived --timeout 1m"]))

    @OptionGroup(visibility: GlobalOptions.visibility) var global: GlobalOptions

    @Argument(help: "The name.")
    var name: String

    @Option(help: "End after this many posts, 1 or more.")
    var count: UInt64?

    @Option(help: .duration("End after this time, such as 10s."), transform: DurationText.argument)
    var timeout: Duration?

    func validate() throws {
        if count == 0 { throw ValidationError("--count must be 1 or more, not 0.") }
    }

    func run(in context: CommandContext) async throws {
        let name = try NotificationName(name)
        let deadline = CommandDeadline(after: timeout, by: context.clock)
        try await context.withGroup(for: "notify observe", until: deadline) { group in
            let observation = try await group.observe(name)
            context.logger.info("observing")
            try await context.output.whileRead {
                var limit = LineLimit(count: count, of: "post", until: deadline) { observation.cancel() }
                defer { limit.end() }
                while let delivery = try await observation.next() {
                    try await print(delivery, to: context.output)
                    if limit.isReached(with: delivery.count) { return }
                }
                try limit.judge()
            }
        }
    }

    private func print(_ delivery: NotificationDelivery, to output: Output) async throws {
        try await output.emit(
            data: "\(ValueText.oneLine(delivery.name.text))\tstate \(delivery.state)\t"
                + "\(Int(clamping: delivery.count).counting("post"))\tby \(delivery.origin)",
            json: [
                "name": .text(delivery.name.text), "state": .natural(delivery.state),
                "count": .natural(delivery.count), "revision": .natural(delivery.revision.rawValue),
                "origin": .text(delivery.origin.description),
            ])
    }
}

/// `notify state`: the state of a name.
struct NotifyState: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "state", abstract: "Print the state word of a name and how often it was posted.",
        discussion: HelpPage.text(examples: ["sharedcore notify state mail.unread"]))

    @OptionGroup(visibility: GlobalOptions.visibility) var global: GlobalOptions

    @Argument(help: "The name.")
    var name: String

    func run(in context: CommandContext) async throws {
        let name = try NotificationName(name)
        try await context.withReader(for: "notify state") { group in
            let state = try await group.state(of: name)
            try await context.output.emit(
                text: "state \(state.state), posted \(Int(clamping: state.count).counting("time"))",
                json: [
                    "name": .text(name.text), "state": .natural(state.state), "count": .natural(state.count),
                    "revision": .natural(state.revision.rawValue), "origin": .optional(state.origin?.description),
                ])
        }
    }
}
