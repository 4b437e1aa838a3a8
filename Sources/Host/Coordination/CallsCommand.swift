internal import ArgumentParser
internal import Coordination
internal import CoreAPI
internal import Logging
internal import ProgramOutput
internal import SharedCoreConfiguration

/// `calls`: the calls of a group, and commands to the process that has one.
struct CallsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "calls", abstract: "Print the calls of the group, or have their holder act on one.",
        discussion: HelpPage.text(
            "A call is known by its id, as `calls list` prints it.",
            examples: ["sharedcore calls", "sharedcore calls answer 4f2a"]),
        subcommands: [
            CallsList.self, CallsWatch.self, CallsAnswer.self, CallsDecline.self, CallsHold.self, CallsResume.self,
            CallsHangUp.self, CallsAcknowledge.self,
        ],
        defaultSubcommand: CallsList.self)
}

/// `calls list`: prints the calls.
struct CallsList: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Print the open calls, then those that ended and were not acknowledged.",
        discussion: HelpPage.text(examples: ["sharedcore calls"]))

    @OptionGroup(visibility: GlobalOptions.visibility) var global: GlobalOptions

    func run(in context: CommandContext) async throws {
        try await context.withReader(for: "calls list") { group in
            let clock = WallTime()
            for call in try await Calls(group).list() {
                let line = CallLine(call, at: clock)
                try await context.output.emit(text: line.text, json: line.json)
            }
        }
    }
}

/// `calls watch`: the calls as they change.
struct CallsWatch: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch", abstract: "Print each call, and again each time that it changes.",
        discussion: HelpPage.text(
            "Status 1 if too few lines, or none, have come when the time is over.",
            examples: ["sharedcore calls watch --timeout 1h"]))

    @OptionGroup(visibility: GlobalOptions.visibility) var global: GlobalOptions

    @Option(help: "End after this many lines, 1 or more.")
    var count: Int?

    @Option(help: .duration("End after this time, such as 10s."), transform: DurationText.argument)
    var timeout: Duration?

    func validate() throws {
        if let count, count < 1 { throw ValidationError("--count must be 1 or more, not \(count).") }
    }

    func run(in context: CommandContext) async throws {
        let deadline = CommandDeadline(after: timeout, by: context.clock)
        try await context.withGroup(for: "calls watch", until: deadline) { group in
            let changes = try await Calls(group).changes()
            context.logger.info("watching")
            try await context.output.whileRead {
                var limit = LineLimit(count: count.map { UInt64($0) }, until: deadline) { changes.cancel() }
                defer { limit.end() }
                var known = KnownCalls()
                for try await calls in changes {
                    for call in known.changed(to: calls) {
                        let line = CallLine(call)
                        try await context.output.emit(text: line.text, json: line.json)
                        if limit.isReached() { return }
                    }
                }
                try limit.judge()
            }
        }
    }
}

/// `calls acknowledge`: an ended call need not be shown again.
struct CallsAcknowledge: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "acknowledge", abstract: "Acknowledge an ended call, so that it is not shown again.",
        discussion: HelpPage.text(
            "Status 1 when there is no such call that has ended.", examples: ["sharedcore calls acknowledge 4f2a"]))

    @OptionGroup(visibility: GlobalOptions.visibility) var global: GlobalOptions

    @Argument(help: "The id of the call.")
    var id: String

    func run(in context: CommandContext) async throws {
        let callID = try CallsCommand.callID(id)
        try await context.withGroup(for: "calls acknowledge") { group in
            guard try await Calls(group).acknowledge(callID) else {
                throw CommandFailure(.no, "no ended call “\(id)” waits to be acknowledged")
            }
            try await context.output.confirm(text: "acknowledged", json: ["id": .text(id), "acknowledged": true])
        }
    }
}

extension CallsCommand {
    fileprivate static func callID(_ text: String) throws -> CallID {
        guard let id = CallID(text) else { throw CommandFailure.usage("the id of a call cannot be empty") }
        return id
    }
}

/// The options of the commands that go to the holder of a call.
struct CallOptions: ParsableArguments {
    @Argument(help: "The id of the call.")
    var id: String

    @Option(help: .duration("How long to wait for the holder (default: 5s)."), transform: DurationText.argument)
    var timeout: Duration = .seconds(5)

    fileprivate func send(_ command: CallCommand, in context: CommandContext) async throws {
        let callID = try CallsCommand.callID(id)
        let deadline = CommandDeadline(after: timeout, by: context.clock)
        try await context.withGroup(for: "calls \(command)", until: deadline) { group in
            do throws(CoordinationError) {
                try await Calls(group).send(command, to: callID, within: deadline.left ?? timeout)
            } catch {
                throw CommandFailure(ofCommand: error)
            }
            try await context.output.confirm(
                text: "done", json: ["id": .text(id), "command": .text(command.description), "outcome": "done"])
        }
    }
}

extension CommandFailure {
    /// Status 1 for an answer of the group; 69 if the group cannot answer.
    fileprivate init(ofCommand error: CoordinationError) {
        switch error.code {
        case .notFound, .timeout, .refused, .outcomeUnknown, .cancelled:
            self.init(.no, error.message.ending(withCode: error.code))
        default:
            self.init(
                error.cause.map { ExitStatus($0.code) } ?? .unavailable,
                error.cause?.sentence ?? error.message.ending(withCode: error.code))
        }
    }
}

extension CallsCommand {
    fileprivate static let outcomes =
        "Status 1 when no such call is open, when its holder refuses or does not answer in time, and when it is not known what came of it."

    fileprivate static func sending(_ name: String, _ abstract: String) -> CommandConfiguration {
        CommandConfiguration(
            commandName: name, abstract: abstract,
            discussion: HelpPage.text(outcomes, examples: ["sharedcore calls \(name) 4f2a"]))
    }
}

/// `calls answer`.
struct CallsAnswer: HostCommand {
    static let configuration = CallsCommand.sending("answer", "Have the holder answer a call.")

    @OptionGroup(visibility: GlobalOptions.visibility) var global: GlobalOptions
    @OptionGroup var options: CallOptions

    func run(in context: CommandContext) async throws { try await options.send(.answer, in: context) }
}

/// `calls decline`.
struct CallsDecline: HostCommand {
    static let configuration = CallsCommand.sending("decline", "Have the holder decline a call.")

    @OptionGroup(visibility: GlobalOptions.visibility) var global: GlobalOptions
    @OptionGroup var options: CallOptions

    func run(in context: CommandContext) async throws { try await options.send(.decline, in: context) }
}

/// `calls hold`.
struct CallsHold: HostCommand {
    static let configuration = CallsCommand.sending("hold", "Have the holder hold a call.")

    @OptionGroup(visibility: GlobalOptions.visibility) var global: GlobalOptions
    @OptionGroup var options: CallOptions

    func run(in context: CommandContext) async throws { try await options.send(.hold, in: context) }
}

/// `calls resume`.
struct CallsResume: HostCommand {
    static let configuration = CallsCommand.sending("resume", "Have the holder resume a call that it holds.")

    @OptionGroup(visibility: GlobalOptions.visibility) var global: GlobalOptions
    @OptionGroup var options: CallOptions

    func run(in context: CommandContext) async throws { try await options.send(.resume, in: context) }
}

/// `calls hang-up`.
struct CallsHangUp: HostCommand {
    static let configuration = CallsCommand.sending("hang-up", "Have the holder hang a call up.")

    @OptionGroup(visibility: GlobalOptions.visibility) var global: GlobalOptions
    @OptionGroup var options: CallOptions

    func run(in context: CommandContext) async throws { try await options.send(.hangUp, in: context) }
}
