internal import ArgumentParser
internal import CoreAPI
internal import KeptSockets
internal import Platform
internal import ProgramOutput
internal import SharedCoreConfiguration

/// `keeper`: shows the supervised Main, starts it, stops it.
struct KeeperCommand: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "keeper", abstract: "Show the supervised Main, start it or stop it.",
        discussion: HelpPage.text(
            """
            Without an option, prints what the keeper says. The keeper is started by “sharedcore serve” when “main.command” \
            is configured, and outlives it. Status 1 when there is no keeper. Docs/Guide/KeptSockets.md says more.
            """, examples: ["sharedcore keeper", "sharedcore keeper --start --foreground"]))

    @OptionGroup(visibility: GlobalOptions.visibility) var global: GlobalOptions

    @Flag(help: "Start Main, even if it was closed or stopped.")
    var start = false

    @Flag(help: "With --start: start it in the foreground.")
    var foreground = false

    @Flag(help: "Stop Main; it stays down until it is started.")
    var stop = false

    @Flag(help: "End the keeper, and Main with it.")
    var end = false

    func validate() throws {
        if [start, stop, end].count(where: \.self) > 1 {
            throw ValidationError("--start, --stop and --end exclude each other.")
        }
        if foreground, !start { throw ValidationError("--foreground goes with --start.") }
    }

    private var request: KeeperRequest {
        if start { return .start(inForeground: foreground) }
        if stop { return .stop }
        return end ? .quit : .status
    }

    func run(in context: CommandContext) async throws {
        let client = KeeperClient(place: try context.resolution.keeperPlace())
        let request = request
        switch await SerialThread(name: "keeper").run({ () -> KeeperMessage? in client.ask(request) }) {
        case .status(let status):
            let overview = SupervisionOverview(status)
            try await context.output.emit(lines: overview.lines, json: overview.object)
        case .refused(let problem): throw CommandFailure(.no, "the keeper refuses: \(problem.message)")
        case nil:
            throw CommandFailure(
                .no,
                "no keeper answers at \(client.place.socket); “sharedcore serve” starts one if main.command is set")
        default: try await context.output.confirm(text: "Done.", json: ["event": "done"])
        }
    }
}
