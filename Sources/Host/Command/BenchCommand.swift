internal import ArgumentParser
internal import BackendRegistry
internal import CoreAPI
internal import Platform
internal import ProgramOutput
internal import SharedCoreConfiguration

/// `bench`: becomes `sharedcore-bench`, the benchmark program, which an installation does not contain.
struct BenchCommand: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench", abstract: "Measure the configured backend, the limit and the peers, in one run.",
        discussion: HelpPage.text(
            """
            Runs the program sharedcore-bench beside this one, which “make release” of the sources builds, with the \
            arguments and the configuration. The exit status is that of sharedcore-bench, or 69 when it does not exist. \
            Docs/Reference/Commands.md defines each figure; sharedcore-bench --help lists them.
            """, examples: ["sharedcore bench store.get store.put"]))

    @OptionGroup(visibility: GlobalOptions.visibility) var global: GlobalOptions

    @Argument(help: "The figures; without any, all that the backend can give.")
    var names: [String] = []

    @Option(help: "How many rounds, in place of each figure's own number; a round has 1 to 100 samples.")
    var samples: Int?

    func run() async throws {
        // The started program handles signals itself, so none of them cancels this command.
        try await CommandFrame(global: global).run(until: []) { try await run(in: $0) }
    }

    func run(in context: CommandContext) async throws {
        let resolution = context.resolution
        try resolution.checkBackend(among: context.registry.names)
        let configuration = try resolution.backendConfiguration()
        var arguments = [
            "--backend", configuration.backend, "--durability", try resolution.value(Settings.durability).rawValue,
        ]
        if resolution.plugin != nil { arguments += ["--setting", "pluginDirectory=\(try resolution.pluginDirectory)"] }
        for (name, value) in configuration.settings.sorted(by: { $0.key < $1.key }) {
            guard resolution.settings.first(where: { $0.name == name })?.isSecret != true else {
                throw CommandFailure.usage(
                    "bench gives settings to the processes that it measures by their command lines, which others read; “\(name)” "
                        + "is a secret.")
            }
            arguments += ["--setting", "\(name)=\(value)"]
        }
        if context.output.json { arguments.append("--json") }
        if let samples { arguments += ["--samples", String(samples)] }
        // The started program reads the configuration, and finds all of it in the environment.
        let variables = try resolution.variables()
        let program = try OwnProgram.sibling("sharedcore-bench")
        guard FileStatus.isExecutable(program) else { throw Self.absent(program) }
        OwnProcess.set(OwnProcess.startedSignals)
        let error = OwnProcess.become(
            Array(program.utf8), (arguments + ["--"] + names).map { Array($0.utf8) }, variables: variables)
        throw CommandFailure(.unavailable, "\(program) cannot be executed: \(error.text)")
    }

    private static func absent(_ program: String) -> CommandFailure {
        CommandFailure(.unavailable, "\(program) is missing; “make release” in the sources of SharedCore builds it")
    }
}
