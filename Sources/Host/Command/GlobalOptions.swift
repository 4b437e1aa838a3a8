internal import ArgumentParser
internal import Logging
internal import ProgramOutput
internal import SharedCoreConfiguration

/// The options that every command takes, before its name or after it.
struct GlobalOptions: ParsableArguments {
    @Option(name: .customLong("config"), help: "The configuration file, YAML or JSON.")
    var file: String?

    @Option(help: "The transport: memory, file, zmq, or etcd where it is built with it.")
    var backend: String?

    @Option(help: "The name of the group.")
    var group: String?

    @Option(help: "The directory that holds the groups.")
    var stateDirectory: String?

    @Option(help: "What a commit survives: process or disk.")
    var durability: String?

    @Flag(help: "Print one JSON object a line.")
    var json = false

    @Option(
        help: "What is logged to standard error: trace, debug, info, notice, warning, error or critical.",
        transform: Self.level)
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
            let names = Logger.Level.allCases.map(\.rawValue)
            throw ValidationError(
                "“\(text)” is no level; it must be one of \(names.joined(separator: ", "))"
                    + (Spelling.suggestion(for: text, among: names)))
        }
        return level
    }
}
