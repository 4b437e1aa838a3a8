internal import ArgumentParser
internal import Platform
internal import PluginBackend
internal import ProgramOutput
internal import SharedCoreConfiguration

/// The root command of the program `sharedcore`.
struct SharedCoreCommand: AsyncParsableCommand {
    static var configuration: CommandConfiguration { GlobalOptions.writesCompletions ? configured() : usual }

    private static let usual = configured()

    private static func configured() -> CommandConfiguration {
        CommandConfiguration(
            commandName: "sharedcore",
            abstract: "Several processes of one application act as one.",
            usage: "sharedcore [<options>] <command> ...",
            discussion: HelpPage.text(
                """
                The core is the part that only one process runs at a time, such as the connection to a server. Main is \
                the long-lived process, and an Executor a short-lived one that a push starts for one message, which \
                the call-id names. The process that runs the core is its owner. A group is the processes that share \
                a directory or a hub.

                Exit status: 0 yes or done; 1 no (absent, timed out, refused, a check failed); 64 wrong command line; \
                69 the backend cannot be used now; 70 the core failed. 74: standard output cannot be written, but the \
                command may have done its work. 78: wrong configuration, in a file or in the environment.
                """,
                examples: [
                    "sharedcore set mail/unread 3", "sharedcore watch mail", "sharedcore exclusive -- my-client",
                    "sharedcore status",
                ]),
            version: PackageVersion.text,
            subcommands: [OptionsTopic.self, SettingsTopic.self, ConformancePeerCommand.self],
            groupedSubcommands: groups)
    }

    /// The commands by their purpose. The most used commands of `store` and `notify` are also listed at the top level.
    private static var groups: [CommandGroup] {
        var host: [any ParsableCommand.Type] = [ServeCommand.self, PushCommand.self, MaildirCommand.self]
        #if ZMQ
            host.append(HubCommand.self)
        #endif
        return [
            CommandGroup(
                name: "Data",
                subcommands: [
                    StoreGet.self, StorePut.self, StoreDelete.self, StoreList.self, StoreWatch.self, NotifyPost.self,
                    StoreCommand.self, NotifyCommand.self, MailboxCommand.self,
                ].withAliases),
            CommandGroup(
                name: "Core",
                subcommands: [
                    ExclusiveCommand.self, MainCommand.self, ExecutorCommand.self, InboxCommand.self,
                    CallsCommand.self, ApplicationCommand.self, KeeperCommand.self, EndSessionCommand.self,
                ]),
            CommandGroup(name: "Host", subcommands: host),
            CommandGroup(
                name: "Inspection",
                subcommands: [StatusCommand.self, TimelineCommand.self, CheckCommand.self, WebCommand.self]),
            CommandGroup(
                name: "Backup",
                subcommands: [BackupCommand.self, RestoreCommand.self, SalvageCommand.self, CompactCommand.self]),
            CommandGroup(
                name: "Trial",
                subcommands: [DemoCommand.self, ConformanceCommand.self, BenchCommand.self, SoakCommand.self]),
            CommandGroup(
                name: "Program",
                subcommands: [
                    ConfigCommand.self, BackendsCommand.self, VersionCommand.self, CompletionCommand.self,
                ]),
        ]
    }

    @OptionGroup(title: GlobalOptions.title) var global: GlobalOptions

    /// Returns the words of a command line without the global options and their values. The command comes first.
    static func words(of arguments: [String]) -> [String] {
        let options = GlobalOptions.valued + FormerNames.options.keys
        var words: [String] = []
        var rest = arguments[...]
        while let word = rest.popFirst() {
            if options.contains(word) {
                _ = rest.popFirst()
            } else if !word.hasPrefix("-") {
                words.append(word)
            }
        }
        return words
    }

    /// Returns an error message, with the most similar command or else the one that lists all, if a word in the place of
    /// a command is unknown; nil if all are known. Words after “help” name commands too.
    ///
    /// - Parameter showsUsage: True if the usage follows the message, which says how to list the commands.
    static func unknownCommand(in arguments: [String], showsUsage: Bool = false) -> String? {
        var command = configuration
        var path = "sharedcore"
        for word in words(of: arguments).drop(while: { $0 == "help" }) {
            guard !command.subcommands.isEmpty else { return nil }
            // No key paths here: Swift 6.3 crashes on key paths through an existential metatype.
            let known = command.subcommands.map { $0.configuration }
            if let next = known.first(where: { $0.commandName == word || $0.aliases.contains(word) }) {
                command = next
                path += " " + (next.commandName ?? word)
                continue
            }
            let names = known.filter { $0.shouldDisplay }.flatMap { [$0.commandName].compactMap(\.self) + $0.aliases }
            let suggestion = Spelling.suggestion(for: word, among: names)
            // The word may be an argument of the default command.
            guard command.defaultSubcommand == nil || !suggestion.isEmpty else { return nil }
            guard suggestion.isEmpty else { return "no command is “\(word)”\(suggestion)" }
            return "no command is “\(word)”" + (showsUsage ? "." : "; “\(path) --help” lists the commands.")
        }
        return nil
    }

    /// Returns the message for a command line that the parser refuses.
    private static func refusal(_ error: any Error, of arguments: CommandArguments) -> String {
        let message = fullMessage(for: error)
        guard FormerNames.remedy(for: arguments.texts) == nil, isAboutWords(message),
            let unknown = unknownCommand(in: arguments.texts, showsUsage: true)
        else { return arguments.message(MessageStyle.applied(to: HelpPage.wrapped(message))) }
        let usage = message.firstRange(of: "\nUsage: ").map { message[$0.lowerBound...] } ?? ""
        return arguments.message(MessageStyle.applied(to: "Error: \(unknown)" + usage))
    }

    /// Returns true if the parser's message is about unexpected words, not about an option.
    private static func isAboutWords(_ message: String) -> Bool {
        let line = message.prefix { !$0.isNewline }
        return line.hasPrefix("Error: Unexpected argument ") || line.contains(" unexpected arguments: ")
    }

    /// Prepares the process, and ends it with a message if it lacks a resource. Runs on the calling thread, because a
    /// new thread needs descriptors: without any, the process would be killed by a signal.
    static func prepare() -> CommandArguments {
        OwnProcess.takeDefaultSignals()
        // If this fails, a truncated file may end this process, as without a handler.
        try? BusErrorHandler.install()
        var bytes = OwnProcess.arguments
        if bytes.first == Array(StartGate.name.utf8) { StartGate.pass(&bytes) }
        let arguments = CommandArguments(bytes)
        HelpPage.makeRoom(for: arguments.texts)
        // One heap instead of one for each thread saves memory, which counts in an Executor.
        if words(of: arguments.texts).first == ExecutorCommand.configuration.commandName { OwnProcess.shareHeap() }
        ProgramStart.requireResources(
            for: "sharedcore", threadCount: 8,
            status: ExclusiveCommand.isNamed(in: arguments.texts)
                ? ExclusiveStatus.refusal : ExitStatus.unavailable.rawValue)
        return arguments
    }

    /// Returns the command of a command line, parsed without the other commands, which takes a fraction of the time; nil for a
    /// command line that the parser refuses or answers itself. Its messages need all commands.
    static func parsedAlone(_ arguments: [String]) async -> (any ParsableCommand)? {
        var candidates = groups.flatMap(\.subcommands)
        var rest = arguments[...]
        var options: [String] = []
        while let word = rest.popFirst() {
            if GlobalOptions.valued.contains(word), let value = rest.popFirst() {
                options += [word, value]
            } else if GlobalOptions.names.contains(where: { word == $0 || word.hasPrefix($0 + "=") }) {
                options.append(word)
            } else {
                // No key paths here: Swift 6.3 crashes on key paths through an existential metatype.
                let named = candidates.first {
                    $0.configuration.commandName == word || $0.configuration.aliases.contains(word)
                }
                guard let named else { return nil }
                candidates = named.configuration.subcommands
                guard candidates.isEmpty else { continue }
                guard let asynchronous = named as? any AsyncParsableCommand.Type,
                    let command = try? await asynchronous.asyncParseAsRoot(options + rest), type(of: command) == named
                else { return nil }
                return command
            }
        }
        return nil
    }

    /// Runs the command that the arguments name.
    static func carryOut(_ arguments: CommandArguments) async {
        // `exclusive` passes on the exit status of its command, so it has a separate status for its own failures.
        let isExclusive = ExclusiveCommand.isNamed(in: arguments.texts)
        ExitGuard.begin(
            isExclusive ? ExclusiveStatus.refusal : ExitStatus.unavailable.rawValue,
            saying: "sharedcore: code of the backend has called exit(); the command may not have done its work\n")
        do {
            var command: any ParsableCommand
            if let alone = await parsedAlone(arguments.texts) {
                command = alone
            } else {
                command = try await asyncParseAsRoot(arguments.texts)
            }
            try arguments.check(command)
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
            if BackendPlugin.isLoading { OwnProcess.end(0) }
            ExitGuard.end()
        } catch {
            // A command that has run has already reported its failure.
            if let status = error as? ExitCode {
                if BackendPlugin.isLoading { OwnProcess.end(status.rawValue) }
                end(with: status)
            }
            var refusal = error as? CommandFailure
            let code = exitCode(for: error)
            if code.isSuccess {
                // The parser throws help and similar output as errors. For an unknown command it returns the help of
                // the whole program.
                do throws(CommandFailure) {
                    let answer = HelpPage.answer(to: error, for: arguments.texts)
                    if HelpPage.isHelp(answer), let unknown = unknownCommand(in: arguments.texts) {
                        throw .usage(unknown)
                    }
                    try OwnOutput.print(answer)
                    end(with: code)
                } catch {
                    refusal = error
                }
            }
            guard refusal != nil || code == .validationFailure else {
                StandardError.write(lines: MessageStyle.applied(to: fullMessage(for: error)))
                end(with: code)
            }
            if let message = refusal?.message {
                StandardError.write("sharedcore: \(message)")
            } else {
                StandardError.write(lines: Self.refusal(error, of: arguments))
                let remedy =
                    FormerNames.remedy(for: arguments.texts)
                    ?? GlobalOptions.suggestion(for: message(for: error), among: arguments.texts)
                if let remedy { StandardError.write("sharedcore: \(remedy)") }
            }
            let status = (refusal?.status ?? .usage).rawValue
            end(with: ExitCode(isExclusive ? ExclusiveStatus.refusal : status))
        }
    }

    /// Ends the process with the status of the command.
    private static func end(with status: ExitCode) -> Never {
        ExitGuard.end()
        exit(withError: status)
    }
}
