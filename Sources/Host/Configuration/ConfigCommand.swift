internal import ArgumentParser
internal import BackendRegistry
internal import ProgramOutput
internal import SharedCoreConfiguration

/// `config`: what is configured, and whether it can be.
struct ConfigCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config", abstract: "Show and check the configuration.",
        discussion: """
            A setting comes from its flag, else from its environment variable, else from the configuration file, else it \
            is the default. The file is --config, else SHAREDCORE_CONFIG, else sharedcore.yaml in the working directory, \
            else sharedcore/config.yaml in $XDG_CONFIG_HOME. It must be a regular file of the caller's own, or root's, which \
            other users may not write.

            The service levels reach what a host starts from that host's start on, and a supervised Main from the start of \
            its keeper on, which outlives the host: “sharedcore keeper --end” has both started anew. The settings:

            \(SettingsTable.text)
            """,
        subcommands: subcommands)

    private static var subcommands: [any ParsableCommand.Type] {
        var subcommands: [any ParsableCommand.Type] = [ConfigShow.self, ConfigValidate.self]
        #if ZMQ
            subcommands.append(ConfigKeys.self)
        #endif
        return subcommands
    }
}

/// `config show`: what is in force, and where each value came from.
struct ConfigShow: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Print every setting, its value and where it came from.")

    @OptionGroup var global: GlobalOptions

    func run(in context: CommandContext) async throws {
        let rows = try context.resolution.overview()
        let keyWidth = rows.map(\.key.count).max() ?? 0
        let valueWidth = rows.map(\.value.count).max() ?? 0
        for row in rows {
            try await context.output.emit(
                text: row.key.padded(to: keyWidth) + "  " + row.value.padded(to: valueWidth) + "  "
                    + row.origin.description,
                json: [
                    "key": .text(row.key), "value": .text(row.value), "source": .text(row.origin.kind),
                    "origin": .text(row.origin.description),
                ])
        }
    }
}

extension String {
    /// The text with spaces after it, up to a width.
    func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - count))
    }
}

/// `config validate`: whether the configuration is right.
struct ConfigValidate: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "validate", abstract: "Say whether the configuration is right.",
        discussion: """
            Status 78, and what is wrong and where, when it is not. The settings are read as “serve” reads them; the files of \
            keys that are named for ZeroMQ over a network are read as well. Not tried: whether a place to listen at is free, \
            and whether a host or a cluster answers.
            """)

    @OptionGroup var global: GlobalOptions

    func run(in context: CommandContext) async throws {
        _ = try context.resolution.overview()
        _ = try context.resolution.coordinationOptions()
        _ = try ExecutorSettings(context.resolution)
        _ = try context.resolution.supervision()
        try context.resolution.checkBackend(among: context.registry.names)
        #if ZMQ
            if try context.resolution.value(Settings.backend) == "zmq" { try context.resolution.checkKeys() }
        #endif
        let file = context.resolution.file?.path
        try await context.output.emit(
            text: "The configuration is right" + (file.map { " (\($0))." } ?? "; there is no file."),
            json: ["event": "valid", "file": .optional(file)])
    }
}
