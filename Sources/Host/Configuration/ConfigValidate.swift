internal import ArgumentParser
internal import BackendRegistry
internal import ProgramOutput

/// `config validate`: whether the configuration is right.
struct ConfigValidate: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "validate", abstract: "Say whether the configuration is right.",
        discussion: "Status 78, and what is wrong and where, when it is not.")

    @OptionGroup var global: GlobalOptions

    func run(in context: CommandContext) async throws {
        _ = try context.resolution.overview()
        _ = try context.resolution.coordinationOptions()
        try context.resolution.checkBackend(among: context.registry.names)
        let file = context.resolution.file?.path
        try await context.output.emit(
            text: "The configuration is right" + (file.map { " (\($0))." } ?? "; there is no file."),
            json: ["event": "valid", "file": .optional(file)])
    }
}
