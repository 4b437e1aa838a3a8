internal import ArgumentParser
internal import BackendRegistry
internal import Logging
internal import Platform
internal import ProgramOutput
internal import SharedCoreConfiguration

/// The options of all commands, before or after the command's name.
struct GlobalOptions: ParsableArguments {
    /// The title of their section in the help.
    static let title = "Global options"

    /// The visibility of the options in the help of a command. They are hidden, because `sharedcore help options` shows them, but
    /// a completion script must list them for each command.
    static var visibility: ArgumentVisibility { writesCompletions ? .default : .hidden }

    /// True while a completion script is being written.
    @TaskLocal static var writesCompletions = false

    /// The names of the options with a value.
    static let valued = ["--config", "--backend", "--group", "--state-directory", "--durability", "--log-level"]
    /// The names of all options.
    static let names = valued + ["--json"]

    private static let levels = Logger.Level.allCases.map(\.rawValue)

    @Option(
        name: .customLong("config"),
        help: ArgumentHelp("The configuration file, YAML or JSON (default: sharedcore.yaml).", valueName: "file"),
        completion: .file(extensions: ["yaml", "yml", "json"]))
    var file: String?

    @Option(
        help: ArgumentHelp(
            "The transport: memory, file, zmq, or etcd where it is built with it \(Settings.backend.inBrackets).",
            valueName: "name"),
        completion: .list(SharedCoreProgram.registry.names))
    var backend: String?

    @Option(
        help: ArgumentHelp("The name of the group \(Settings.group.inBrackets).", valueName: "name"),
        completion: Completion.group)
    var group: String?

    @Option(
        help: ArgumentHelp(
            "The directory that holds the groups \(Settings.stateDirectory.inBrackets).", valueName: "path"),
        completion: .directory)
    var stateDirectory: String?

    @Option(
        help: ArgumentHelp(
            "The failure that a commit survives, the end of a process or a loss of power: "
                + "\(Settings.durability.kind.choices.joined(separator: ", ")) \(Settings.durability.inBrackets).",
            valueName: "kind"),
        completion: .list(Settings.durability.kind.choices))
    var durability: String?

    @Flag(help: "Print one JSON object a line.")
    var json = false

    @Option(
        help: ArgumentHelp(
            "The messages to log to standard error: \(levels.joined(separator: ", ")) (default: notice).",
            valueName: "level"),
        completion: .list(levels), transform: Self.level)
    var logLevel: Logger.Level = .notice

    /// The settings that the flags give, by name.
    var flags: [String: String] {
        var flags: [String: String] = [:]
        flags[Settings.backend.name] = backend
        flags[Settings.group.name] = group
        flags[Settings.stateDirectory.name] = stateDirectory
        flags[Settings.durability.name] = durability
        return flags
    }

    private static func level(_ text: String) throws -> Logger.Level {
        guard let level = Logger.Level(rawValue: text) else {
            throw ValidationError(
                "It must be one of \(levels.joined(separator: ", "))"
                    + (Spelling.suggestion(for: text, among: levels)))
        }
        return level
    }

    /// Proposes a global option for one that the parser does not know, or another place for a setting that has no option; nil for
    /// no proposal. The parser proposes only options that the command's help shows.
    static func suggestion(for message: String, among arguments: [String]) -> String? {
        for argument in arguments.prefix(while: { $0 != "--" }) where argument.hasPrefix("--") {
            let name = String(argument.prefix { $0 != "=" })
            guard !names.contains(name), message.contains("Unknown option '\(name)'") else { continue }
            if let place = placeOfSetting(name) { return place }
            guard !message.contains("Did you mean") else { return nil }
            return Spelling.nearest(to: name, among: names).map { "did you mean “\($0)”?" }
        }
        return nil
    }

    /// Returns where to write a setting that was given as an option; nil for the name of no setting. Every user of the machine can
    /// read command lines, so settings that may be secrets have no options.
    private static func placeOfSetting(_ option: String) -> String? {
        func place(_ variable: String, _ key: String) -> String {
            "\(option) is a setting without an option: set \(variable), or \(key) in the configuration file."
        }
        if let setting = Settings.all.first(where: { $0.optionName == option }) {
            return place(setting.environmentName, setting.name)
        }
        // Only a plugin knows its keys, and no plugin is loaded for a wrong command line. So recognize its keys by
        // their prefix.
        let plugins = try? Resolution(
            flags: [:], environment: EnvironmentLayer.ofProcess(), file: nil, workingDirectory: .gone
        ).pluginNames
        let backends = SharedCoreProgram.added.map(\.name) + (plugins ?? [])
        guard let backend = backends.first(where: { option.hasPrefix("--\($0)-") }) else { return nil }
        return place(EnvironmentLayer.variable(of: String(option.dropFirst(2))), "a key of “\(backend)”")
    }
}

extension Setting {
    /// The default as the help shows it.
    fileprivate var inBrackets: String { "(default: \(fallback.description))" }
}
