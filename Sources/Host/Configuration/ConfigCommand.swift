internal import ArgumentParser
internal import BackendRegistry
internal import CoreAPI
internal import Platform
internal import ProgramOutput
internal import SharedCoreConfiguration

/// `config`: prints and checks the configuration.
struct ConfigCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config", abstract: "Show and check the configuration.",
        discussion: HelpPage.text(
            """
            A setting comes from its flag, else from its environment variable, else from the configuration file, else it \
            is the default. The file is --config, else SHAREDCORE_CONFIG, else sharedcore.yaml in the working directory, \
            else sharedcore/config.yaml in $XDG_CONFIG_HOME. It must be a regular file of the caller's own, or root's, which \
            other users may not write.

            A host applies the service levels from its start on, to what it starts. A supervised Main has those that were \
            set when its keeper started. The keeper outlives the host: “sharedcore keeper --end” has both started anew. \
            “sharedcore help settings” lists the settings.
            """,
            examples: ["sharedcore config get executor.budget", "sharedcore config validate"]),
        subcommands: subcommands)

    private static var subcommands: [any ParsableCommand.Type] {
        var subcommands: [any ParsableCommand.Type] = [ConfigShow.self, ConfigGet.self, ConfigValidate.self]
        #if ZMQ
            subcommands.append(ConfigKeys.self)
        #endif
        return subcommands
    }
}

/// `config show`: prints the values in force and their sources.
struct ConfigShow: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Print every setting, its value and where it came from.",
        discussion: HelpPage.text(examples: [
            "sharedcore config show", "SHAREDCORE_GROUP=chat sharedcore config show --json",
        ]))

    @OptionGroup(visibility: GlobalOptions.visibility) var global: GlobalOptions

    func run(in context: CommandContext) async throws {
        let rows = try context.resolution.overview()
        var keyWidth = rows.map(\.key.count).max() ?? 0
        let originWidth = rows.map(\.origin.description.count).max() ?? 0
        var valueWidth = rows.map(\.shown.count).max() ?? 0
        // On a narrow terminal the padding would be wrapped as well, so do not pad the value.
        if let width = context.output.columnCount, keyWidth + valueWidth + originWidth + 4 > width {
            (keyWidth, valueWidth) = (min(keyWidth, Self.narrowKeyWidth), 0)
        }
        for row in rows {
            let columns = [row.key.padded(to: keyWidth), row.shown.padded(to: valueWidth), row.origin.description]
            try await context.output.emit(lines: [columns.joined(separator: "  ")], json: row.json)
        }
    }

    /// The width of the column of keys on a narrow terminal. Nearly all keys fit.
    private static let narrowKeyWidth = 24
}

/// `config get`: prints one value in force.
struct ConfigGet: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "get", abstract: "Print the value of a setting.",
        discussion: HelpPage.text(
            "The value alone, as “config show” prints it; with --json also its “source” and “origin”.",
            examples: ["sharedcore config get stateDirectory"]))

    @OptionGroup(visibility: GlobalOptions.visibility) var global: GlobalOptions

    @Argument(help: "The key of the setting.", completion: .list(Settings.all.map(\.name)))
    var key: String

    func run(in context: CommandContext) async throws {
        guard let setting = context.resolution.settings.first(where: { $0.name == key }) else {
            throw CommandFailure.usage(ConfigurationFailure.unknownKey(key, at: nil).description)
        }
        let row = try context.resolution.row(of: setting)
        try await context.output.emit(data: row.shown, json: row.json)
    }
}

extension Resolution.Row {
    /// `key value source origin`.
    fileprivate var json: JSONObject {
        [
            "key": .text(key), "value": .text(shown), "source": .text(origin.kind),
            "origin": .text(origin.description),
        ]
    }
}

extension String {
    /// Returns the text with spaces after it, up to a width.
    func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - count))
    }
}

/// `config validate`: whether the configuration is right.
struct ConfigValidate: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "validate", abstract: "Check the configuration.",
        discussion: HelpPage.text(
            """
            Status 78 after a line for each mistake with its place. The settings are read as “serve” reads them, those of \
            ZeroMQ and its key files with any backend. An environment variable SHAREDCORE_… that is not a setting is a \
            mistake as well, and so is a command whose program does not exist. Not checked: whether a place to listen at \
            is free, and whether a host or a cluster answers.
            """, examples: ["sharedcore config validate --config sharedcore.yaml"]))

    @OptionGroup(visibility: GlobalOptions.visibility) var global: GlobalOptions

    func run(in context: CommandContext) async throws {
        let failures = failures(in: context)
        guard failures.isEmpty else {
            for failure in failures {
                if context.output.json {
                    try await context.output.emit(text: "", json: failure.json)
                } else {
                    StandardError.write("sharedcore: \(failure)")
                }
            }
            throw CommandFailure(.configuration)
        }
        let file = context.resolution.file?.path
        try await context.output.emit(
            text: "The configuration is right" + (file.map { " (\($0))." } ?? "; there is no file."),
            json: ["event": "valid", "file": .optional(file)])
    }

    func run() async throws {
        try await CommandFrame(global: global, toleratesFailures: true).run(self)
    }

    /// Returns the failures of the environment, the file, the values and their combinations, each once.
    private func failures(in context: CommandContext) -> [ConfigurationFailure] {
        let resolution = context.resolution
        var failures =
            UnknownVariables.messages(of: resolution).map { ConfigurationFailure($0) }
            + FormerNames.failures(in: resolution.environment) + (resolution.file?.failures ?? [])
        func check(_ body: () throws -> Void) {
            do {
                try body()
            } catch let failure as ConfigurationFailure {
                failures.append(failure)
            } catch let error as SharedCoreError {
                failures.append(ConfigurationFailure(error.code, at: nil, error.sentence))
            } catch {
                failures.append(ConfigurationFailure("\(error)"))
            }
        }
        for setting in resolution.settings { check { _ = try resolution.row(of: setting) } }
        check { _ = try resolution.coordinationOptions() }
        check { _ = try ExecutorSettings(resolution) }
        check { _ = try resolution.supervision() }
        check { try resolution.requireProgram(resolution.coreCommand(), of: Settings.coreCommand.erased) }
        check {
            let words = try resolution.optional(Settings.mainCommand)
            try resolution.requireProgram(words, of: Settings.mainCommand.erased)
        }
        check {
            let words = try resolution.optional(Settings.executorCommand)
            try resolution.requireProgram(words, of: Settings.executorCommand.erased)
        }
        check {
            try resolution.loadingBackend(among: SharedCoreProgram.added).checkBackend(among: context.registry.names)
        }
        #if ZMQ
            for hubCheck in resolution.hubChecks { check(hubCheck) }
        #endif
        // Several checks may report the same invalid value, so keep each message once.
        var seen: Set<String> = []
        return failures.filter { seen.insert($0.description).inserted }
    }
}

extension Resolution {
    /// Refuses a command with a program that is missing or cannot be executed.
    fileprivate func requireProgram(_ words: [String]?, of setting: AnySetting) throws {
        guard let program = words?.first else { return }
        do throws(CommandSearch.Failure) {
            try CommandSearch.check(Array(program.utf8), path: OwnProcess.variable("PATH"))
        } catch {
            throw ConfigurationFailure(
                at: find(setting)?.origin.description, "\(setting.name): \(error.message).")
        }
    }
}

extension ConfigurationFailure {
    /// `event code place message`.
    fileprivate var json: JSONObject {
        [
            "event": "mistake", "code": .text(code.description), "place": .optional(place), "message": .text(sentence),
        ]
    }
}
