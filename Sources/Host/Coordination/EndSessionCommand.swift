internal import ArgumentParser
internal import CoreAPI
internal import ProgramOutput
internal import SharedCoreConfiguration

/// `end-session`: asks the process of a session to end.
struct EndSessionCommand: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "end-session", abstract: "Ask the process of a session to end, such as that of the owner.",
        usage: "sharedcore end-session [<options>] <session>\nsharedcore end-session [<options>] --owner",
        discussion: HelpPage.text(
            """
            By SIGTERM, at which a Main, an Executor and “exclusive” stop the core and release it: with --owner, the next one \
            that waits becomes the owner. All sessions of the process end. Only a process of this machine and this user is \
            signalled, and only if the system proves that it has the session. The timeline tells of it first. Status 1 when \
            the session has not ended in time.
            """, examples: ["sharedcore end-session 42", "sharedcore end-session --owner --timeout 30s"]))

    @OptionGroup(visibility: GlobalOptions.visibility) var global: GlobalOptions

    @Argument(help: "The session, as “sharedcore status” prints it.")
    var session: String?

    @Flag(help: "The session of the core's owner, so that it hands over.")
    var owner = false

    @Flag(help: "By SIGKILL: the process has no time to stop its core.")
    var kill = false

    @Option(
        help: .duration("How long the process may take (default: 10s)."),
        transform: { try DurationText.argument($0) })
    var timeout: Duration = Operator.timeout

    func validate() throws {
        if owner == (session != nil) { throw ValidationError("Give a session, or --owner.") }
    }

    func run(in context: CommandContext) async throws {
        let operation: Operation =
            session.map { .endSession($0, isForced: kill) } ?? .handOver(epoch: nil, isForced: kill)
        let receipt = try await context.perform(operation, for: "end-session", timeout: timeout)
        try await context.output.confirm(text: receipt.text, json: receipt.json)
        guard receipt.isDone else { throw CommandFailure(.no) }
    }
}
