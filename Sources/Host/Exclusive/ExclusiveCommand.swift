internal import ArgumentParser
internal import Coordination
internal import CoreAPI
internal import Logging
internal import Platform
internal import ProgramOutput
internal import SharedCoreConfiguration
internal import Synchronization

/// `exclusive`: runs any command while owning the core.
struct ExclusiveCommand: HostCommand, TakesBytes {
    static let configuration = CommandConfiguration(
        commandName: "exclusive", abstract: "Run any command while owning the core.",
        usage: "sharedcore exclusive [<options>] -- <command> [<argument> ...]",
        discussion: HelpPage.text(
            """
            Waits for the ownership as flock(1) waits for a lock, until --timeout. With --no-wait it does not wait: it is \
            refused if another Main owns. With --role executor it is also refused if an Executor owns. An Executor that \
            owns hands over to a Main.

            The command gets the standard streams, the directory, the environment and the signals of this program. It \
            gets SIGTERM when the core must be handed over, when an Executor's budget is used up, or when the group is out \
            of reach for two thirds of a lease. It is killed 4 s later, or before the lease is over; if handover.timeout is \
            longer than 5 s, 1 s before that is over. It ends with this program, also when this program is killed; the \
            processes that it has started do not.

            The command's exit status is passed on, for a signal 128 and its number. 125 when sharedcore itself failed or \
            was refused, unless --refused-status or --lost-status gives another one. 126 when the command cannot be \
            executed, 127 when it does not exist.
            """,
            examples: [
                "sharedcore exclusive -- my-client", "sharedcore exclusive --no-wait --refused-status 75 -- my-client",
                "sharedcore exclusive --role executor --timeout 1m -- sh -c 'date > last'",
            ]))

    @OptionGroup(visibility: GlobalOptions.visibility) var global: GlobalOptions

    @Option(help: "The role in which to own.")
    var role = ExclusiveRole.main

    @Flag(inversion: .prefixedNo, help: "Wait for the core while another participant owns it.")
    var wait = true

    @Option(
        help: .duration("Wait at most this long, such as 10s (default: no limit)."), transform: DurationText.argument)
    var timeout: Duration?

    @Flag(help: "As main, take over from another Main that owns.")
    var takeOver = false

    @Flag(help: "As main, interrupt the owner's activities, instead of waiting for them.")
    var insist = false

    @Option(
        help: ArgumentHelp(
            "The exit status if the core is not available: refused, or timed out; 1 to 255.", valueName: "status"))
    var refusedStatus: Int32 = ExclusiveStatus.refusal

    @Option(
        help: ArgumentHelp(
            "The exit status if the core is handed over or lost before the command has ended; 1 to 255.",
            valueName: "status"))
    var lostStatus: Int32?

    @Option(help: "The participant's name for people (default: the command's).")
    var name: String?

    @Argument(parsing: .postTerminator, help: "The command and its arguments, after “--”.")
    var command: [ArgumentBytes] = []

    var values: [ArgumentBytes] { command }

    func validate() throws {
        if command.isEmpty { throw ValidationError(Self.missingCommand) }
        if takeOver, role != .main { throw ValidationError("--take-over is for --role main.") }
        if insist, role != .main { throw ValidationError("--insist is for --role main.") }
        if timeout != nil, !wait { throw ValidationError("--timeout and --no-wait exclude each other.") }
        for (option, status) in [("--refused-status", refusedStatus), ("--lost-status", lostStatus)] {
            if let status, !(1...255).contains(status) {
                throw ValidationError("\(option) is 1 to 255, not \(status).")
            }
        }
    }

    private static let missingCommand =
        "The command is missing; write it behind “--”, such as “sharedcore exclusive -- my-client”."

    func run() async throws {
        let status = ExclusiveStatus()
        do {
            try await CommandFrame(global: global).run(until: []) { try await run(in: $0, status) }
        } catch is ExitCode {}
        throw ExitCode(status.value)
    }

    func run(in context: CommandContext) async throws {
        try await run(in: context, ExclusiveStatus())
    }

    private func run(in context: CommandContext, _ status: ExclusiveStatus) async throws {
        do throws(CommandSearch.Failure) {
            try CommandSearch.check(command[0].bytes, path: OwnProcess.variable("PATH"))
        } catch {
            status.set(error.status)
            throw CommandFailure(.no, error.message)
        }
        let options = try context.resolution.exclusiveOptions()
        let isTold = context.logger.logLevel <= .notice
        let order = EndingOrder(isTold: isTold)
        let program = ExclusiveProgram(command.map(\.bytes), grace: options.grace)
        let title = name ?? command[0].shown.pathParts.last ?? command[0].shown
        let (interrupts, interrupt) = AsyncStream.makeStream(of: Void.self)
        // Begin to relay signals before anything exists that must be cleaned up after a signal.
        try SignalRelay.begin([.interrupt, .terminate, .hangUp, .quit, .user1, .user2]) { signal, isFromTerminal in
            // The terminal sends its signals to the command as well.
            let isHeard = isFromTerminal ? program.terminalSent(signal) : program.signal(signal)
            if !isHeard { interrupt.yield() }
        }
        let description = SessionDescription(role: role.role, name: title)
        let openTimeout = try timeout ?? (wait ? nil : context.openTimeoutWithoutWait)
        let deadline = CommandDeadline(after: openTimeout, by: context.clock)
        let turn = ExclusiveTurn(
            as: role, waits: wait, timeout: timeout, by: context.clock, isWaiting: { program.isWaiting },
            cancelWait: { interrupt.yield() })
        let work = Task {
            try await context.reportingWaits(endedBy: endOfWait) { shown in
                let reporting: ExclusiveOwnership.Reporting = { reason in
                    turn.evaluate(reason)
                    shown?(reason)
                }
                try await context.withGroup(as: description, for: "exclusive", until: deadline) { group in
                    let environment = CoordinationEnvironment(witness: try context.resolution.witness())
                    let variables = try context.resolution.variablesOfCore()
                    // From here on the deadline limits the wait for the core. A group that cannot be opened in time
                    // fails differently.
                    let limit = turn.watchClock(until: deadline)
                    defer { limit?.cancel() }
                    try await turn.check(group)
                    let ownership = try ExclusiveOwnership(
                        role, waitsItsTurn: wait, of: group, options: options.coordination, environment: environment,
                        program: program, variables: variables, onOrder: { order.came(in: $0) })
                    do {
                        let ended = try await ownership.run(
                            takingOver: takeOver, insisting: insist, reporting: reporting)
                        let lost = order.hasCome ? lostStatus : nil
                        if let ended { status.set(lost ?? ended) }
                    } catch let error as CoordinationError {
                        set(status, after: error)
                        throw error
                    }
                }
            }
        }
        let waiting = Task { for await _ in interrupts { work.cancel() } }
        let result = await work.result
        waiting.cancel()
        // The ownership has been released, so waiting here delays no hand-over.
        await order.isTold()
        if case .failure = result, let failure = turn.failure {
            status.set(refusedStatus)
            throw failure
        }
        try result.get()
    }

    /// The option that ends the wait for the core, for the lines about it; nil with `--no-wait`, because each wait that
    /// is left has a limit of its own.
    private var endOfWait: String? {
        if let timeout { return "--timeout \(DurationText.write(timeout)) ends the wait" }
        return wait ? "the wait has no limit: --timeout sets one, --no-wait refuses at once" : nil
    }

    private func set(_ status: ExclusiveStatus, after error: CoordinationError) {
        switch error.code {
        case .refused: status.set(refusedStatus)
        case .fenced, .superseded: if let lostStatus { status.set(lostStatus) }
        default: break
        }
    }

    /// Returns true if a command line calls this command, as far as an invalid command line shows it.
    static func isNamed(in arguments: [String]) -> Bool {
        SharedCoreCommand.words(of: arguments).first == configuration.commandName
    }
}

/// The role in which `exclusive` takes part.
enum ExclusiveRole: String, ExpressibleByArgument, CaseIterable {
    case main
    case executor

    var role: SessionRole {
        switch self {
        case .main: .main
        case .executor: .executor
        }
    }
}

/// The result of `exclusive`: the exit status of its command, else why the command did not run.
final class ExclusiveStatus: Sendable {
    /// sharedcore itself failed, or refused.
    static let refusal: Int32 = 125
    /// The command exists, but cannot be executed.
    static let notExecutable: Int32 = 126
    /// The command is not there.
    static let notFound: Int32 = 127

    private let status = Mutex(ExclusiveStatus.refusal)

    var value: Int32 { status.withLock { $0 } }

    func set(_ value: Int32) {
        status.withLock { $0 = value }
    }
}

extension Resolution {
    /// Returns the options of `exclusive`, and the time of its command from SIGTERM to SIGKILL. It is a little shorter
    /// than a Main waits for a stopping core, so that the ownership is released in time.
    func exclusiveOptions() throws(ConfigurationFailure) -> (coordination: CoordinationOptions, grace: Duration) {
        var options = try coordinationOptions()
        let bound = max(options.handoverTimeout, options.stopTimeout)
        let grace = bound - min(bound / 5, .seconds(1))
        // A killed program may take a moment to end.
        options.stopTimeout = max(options.stopTimeout, grace + .seconds(5))
        return (options, grace)
    }
}
