internal import ArgumentParser
internal import BackendRegistry
internal import Platform
internal import ProgramOutput
internal import SharedCoreConfiguration

/// `web`: becomes `sharedcore-web`, the program that serves a page about the group.
struct WebCommand: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "web", abstract: "Show the group on a page in a browser, live.",
        usage: "sharedcore web [<options>] [--port <port> | --socket <path> | --service]",
        discussion: HelpPage.text(
            """
            By the program sharedcore-web beside this one. It prints an address of 127.0.0.1, which is valid for one browser \
            within 60 s, and serves until SIGINT or SIGTERM. It only reads, as “status” does, unless --allow-actions is given: no \
            setting and no variable does. Status 69 when the program is missing or the port is in use.
            """, examples: ["sharedcore web", "sharedcore web --port 8080", "sharedcore web --allow-actions"]))

    @OptionGroup(visibility: GlobalOptions.visibility) var global: GlobalOptions

    @Option(help: "The port of 127.0.0.1, at most 65535; 0 chooses a free one.")
    var port: UInt16?

    @Option(
        help: ArgumentHelp(
            "Serve at a unix socket in place of a port; its directory is made, or must have mode 0700.",
            valueName: "path"),
        completion: .file())
    var socket: String?

    @Flag(help: "Serve at the group's own unix socket, as the unit of systemd does: “serve” says where it is.")
    var service = false

    @Flag(help: "Let the page also act: hand over, end sessions, pushes, pause, compact. The timeline records each.")
    var allowActions = false

    func validate() throws {
        if [port != nil, socket != nil, service].count(where: \.self) > 1 {
            throw ValidationError("--port, --socket and --service exclude each other.")
        }
    }

    func run() async throws {
        // The program listens to signals itself.
        try await CommandFrame(global: global).run(until: []) { try await run(in: $0) }
    }

    func run(in context: CommandContext) async throws {
        let resolution = context.resolution
        try resolution.checkBackend(among: context.registry.names)
        var arguments = context.output.json ? ["--json"] : []
        if service { try resolution.makeRuntimeDirectory() }
        if let socket = try socket ?? (service ? resolution.pageSocket() : nil) { arguments += ["--socket", socket] }
        if let port { arguments += ["--port", String(port)] }
        if allowActions { arguments.append("--allow-actions") }
        // The started program reads the configuration, and finds all of it in the environment.
        let variables = try resolution.variables()
        let program = try OwnProgram.sibling("sharedcore-web")
        guard FileStatus.isExecutable(program) else {
            throw CommandFailure(
                .unavailable,
                "\(program) is missing; install the package sharedcore-web, or build it by "
                    + "“swift build --product sharedcore-web” in the sources of SharedCore")
        }
        OwnProcess.set(OwnProcess.startedSignals)
        let error = OwnProcess.become(
            Array(program.utf8), arguments.map { Array($0.utf8) }, variables: variables)
        throw CommandFailure(.unavailable, "\(program) cannot be executed: \(error.text)")
    }
}
