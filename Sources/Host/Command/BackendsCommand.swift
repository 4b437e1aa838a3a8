internal import ArgumentParser
internal import BackendRegistry
internal import CoreAPI
internal import PluginBackend
internal import ProgramOutput
internal import SharedCoreConfiguration

/// `backends`: the backends that a configuration can choose.
struct BackendsCommand: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "backends", abstract: "List the backends that a configuration can choose.",
        discussion: HelpPage.text(
            """
            The bundled ones, then those that this program adds, then the plugins in pluginDirectory: their version, file, durability and settings. Status 1 \
            where a plugin cannot be loaded; its line says why.
            """, examples: ["sharedcore backends", "sharedcore backends --json"]))

    @OptionGroup(visibility: GlobalOptions.visibility) var global: GlobalOptions

    func run() async throws {
        try await CommandFrame(global: global, toleratesFailures: true).run(self)
    }

    func run(in context: CommandContext) async throws {
        for name in BackendRegistry.bundled().names {
            try await context.output.emit(text: name, json: ["name": .text(name), "kind": "bundled"])
        }
        for factory in SharedCoreProgram.added {
            try await context.output.emit(
                lines: ["\(factory.name)  added, survives \(factory.durability.meaning)"]
                    + Self.lines(of: factory.settings),
                json: Self.json(of: factory))
        }
        let directory = try context.resolution.pluginDirectory
        var areRight = true
        for name in try names(in: directory) {
            switch Self.load(name, from: directory) {
            case .success(nil): continue
            case .success(let plugin?):
                try await context.output.emit(lines: Self.lines(of: plugin), json: Self.json(of: plugin))
            case .failure(let error):
                areRight = false
                try await context.output.emit(
                    text: "\(name)  \(error.sentence)",
                    json: [
                        "name": .text(name), "kind": "plugin", "code": .text("\(error.code)"),
                        "message": .text(error.message),
                        "cause": .optional(error.cause), "location": .text(error.location),
                    ])
            }
        }
        if !areRight { throw CommandFailure(.no) }
    }

    private static func load(
        _ name: String, from directory: String
    ) -> Result<BackendPlugin?, SharedCoreError> {
        do throws(SharedCoreError) {
            return .success(try BackendPlugin.load(name, from: directory))
        } catch {
            return .failure(error)
        }
    }

    private func names(in directory: String) throws -> [String] {
        do throws(SharedCoreError) {
            return try BackendPlugin.names(in: directory)
        } catch {
            throw CommandFailure(error)
        }
    }

    private static func lines(of plugin: BackendPlugin) -> [String] {
        ["\(plugin.name)  version \(plugin.version), survives \(plugin.durability.meaning), \(plugin.path)"]
            + lines(of: PluginFactory(plugin).settings)
    }

    private static func lines(of settings: [BackendSetting]) -> [String] {
        settings.map { setting in
            "  \(setting.key)  \(setting.summary) (default: \(setting.fallback ?? SettingFallback.noneText); "
                + "\(EnvironmentLayer.variable(of: setting.key))\(setting.isSecret ? "; secret" : ""))"
        }
    }

    private static func json(of plugin: BackendPlugin) -> JSONObject {
        [
            "name": .text(plugin.name), "kind": "plugin", "version": .text(plugin.version), "file": .text(plugin.path),
            "durability": .text(plugin.durability.rawValue), "settings": json(of: PluginFactory(plugin).settings),
        ]
    }

    private static func json(of factory: any BackendFactory) -> JSONObject {
        [
            "name": .text(factory.name), "kind": "added", "durability": .text(factory.durability.rawValue),
            "settings": json(of: factory.settings),
        ]
    }

    private static func json(of settings: [BackendSetting]) -> JSONValue {
        .array(
            settings.map { setting in
                .object([
                    "key": .text(setting.key), "default": .optional(setting.fallback),
                    "variable": .text(EnvironmentLayer.variable(of: setting.key)),
                    "summary": .text(setting.summary), "secret": .flag(setting.isSecret),
                ])
            })
    }
}

extension Durability {
    /// The failure that a commit survives, for people.
    fileprivate var meaning: String {
        switch self {
        case .memory: "nothing"
        case .process: "the end of a process"
        case .disk: "a loss of power"
        }
    }
}
