internal import ArgumentParser
internal import Platform
internal import ProgramOutput
internal import SharedCoreConfiguration

/// The program `sharedcore`.
@main
struct SharedCoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sharedcore",
        abstract: "Several processes of one application act as one.",
        discussion: """
            Exit status: 0 yes or done; 1 no (absent, timed out, refused, a check failed); 64 wrong usage; \
            69 the backend cannot be used now; 74 standard output cannot be written, though what was to be done may be \
            done; 78 wrong configuration.
            """,
        version: PackageVersion.text,
        subcommands: subcommands)

    private static var subcommands: [any ParsableCommand.Type] {
        var subcommands: [any ParsableCommand.Type] = [
            DemoCommand.self, StoreCommand.self, NotifyCommand.self, MailboxCommand.self, MainCommand.self,
            ExecutorCommand.self, ExclusiveCommand.self, PushCommand.self, MaildirCommand.self, ServeCommand.self,
            StatusCommand.self, InboxCommand.self, CallsCommand.self,
            KeeperCommand.self, ApplicationCommand.self,
            TimelineCommand.self, CheckCommand.self,
            BackupCommand.self, RestoreCommand.self, SalvageCommand.self,
            ConformanceCommand.self,
            BenchCommand.self, SoakCommand.self, ConfigCommand.self, ConformancePeerCommand.self,
        ]
        #if ZMQ
            subcommands.append(HubCommand.self)
        #endif
        return subcommands
    }

    @OptionGroup var global: GlobalOptions

    /// The words of a command line that are no options of all commands, nor their values: the command comes first.
    static func words(of arguments: [String]) -> [String] {
        let options =
            ["--config", "--backend", "--group", "--state-directory", "--durability", "--log-level"]
            + FormerNames.options.keys
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

    /// A sentence that proposes the command that was meant by a word where no command has that name; nil where there is none.
    static func suggestion(for arguments: [String]) -> String? {
        var commands = subcommands
        for word in words(of: arguments) {
            if let command = commands.first(where: { $0.configuration.commandName == word }) {
                commands = command.configuration.subcommands
            } else {
                // No key paths: Swift 6.3 crashes on those through an existential metatype.
                let shown = commands.map { $0.configuration }.filter { $0.shouldDisplay }
                let names = shown.compactMap { $0.commandName }
                return Spelling.nearest(to: word, among: names).map { "no command is “\(word)”; did you mean “\($0)”?" }
            }
        }
        return nil
    }

    static func main() async {
        OwnProcess.takeDefaultSignals()
        // Where it fails, a truncated file may end this process, as it may one that has no handler.
        try? BusErrorHandler.install()
        var bytes = OwnProcess.arguments
        if bytes.first == Array(StartGate.name.utf8) { StartGate.pass(&bytes) }
        let arguments = CommandArguments(bytes)
        // A heap for each thread would take a part of an Executor's memory.
        if words(of: arguments.texts).first == ExecutorCommand.configuration.commandName { OwnProcess.shareHeap() }
        ProgramStart.requireResources(
            for: "sharedcore", threadCount: 8,
            status: ExclusiveCommand.isNamed(in: arguments.texts)
                ? ExclusiveStatus.refusal : ExitStatus.unavailable.rawValue)
        do {
            var command = try parseAsRoot(arguments.texts)
            try arguments.check(command)
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
        } catch {
            // A command that has run has said what there is to say.
            guard !(error is ExitCode) else { exit(withError: error) }
            let refusal = error as? CommandFailure
            let code = exitCode(for: error)
            guard refusal != nil || code == .validationFailure else {
                // Help and the like are no errors.
                if code.isSuccess { exit(withError: error) }
                StandardError.write(lines: fullMessage(for: error))
                exit(withError: code)
            }
            if let message = refusal?.message {
                StandardError.write("sharedcore: \(message)")
            } else {
                StandardError.write(lines: arguments.message(fullMessage(for: error)))
                if let remedy = FormerNames.remedy(for: arguments.texts) ?? suggestion(for: arguments.texts) {
                    StandardError.write("sharedcore: \(remedy)")
                }
            }
            // Wrong usage of a command that passes on the exit status of another one is told apart from what that one
            // says.
            let isExclusive = ExclusiveCommand.isNamed(in: arguments.texts)
            exit(withError: ExitCode(isExclusive ? ExclusiveStatus.refusal : ExitStatus.usage.rawValue))
        }
    }
}
