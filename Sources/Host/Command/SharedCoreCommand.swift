internal import ArgumentParser
internal import ProgramOutput

/// The program `sharedcore`.
@main
struct SharedCoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sharedcore",
        abstract: "Several processes of one application act as one.",
        discussion: """
            Exit status: 0 yes or done; 1 no (absent, timed out, refused, a check failed); 64 wrong usage; \
            69 the backend cannot be used now; 78 wrong configuration.
            """,
        version: "0.1.0",
        subcommands: subcommands)

    private static var subcommands: [any ParsableCommand.Type] {
        var subcommands: [any ParsableCommand.Type] = [
            DemoCommand.self, StoreCommand.self, NotifyCommand.self, MailboxCommand.self, MainCommand.self,
            ExecutorCommand.self, ExclusiveCommand.self, PushCommand.self, ServeCommand.self, StatusCommand.self,
            KeeperCommand.self, ApplicationCommand.self,
            TimelineCommand.self, CheckCommand.self,
            ConformanceCommand.self,
            BenchCommand.self, SoakCommand.self, ConfigCommand.self, ConformancePeerCommand.self,
        ]
        #if ZMQ
            subcommands.append(HubCommand.self)
        #endif
        return subcommands
    }

    @OptionGroup var global: GlobalOptions

    static func main() async {
        var arguments = Array(CommandLine.arguments.dropFirst())
        if arguments.first == StartGate.name { StartGate.pass(&arguments) }
        ProgramStart.requireDescriptors(
            for: "sharedcore",
            status: ExclusiveCommand.isNamed(in: arguments)
                ? ExclusiveStatus.refusal : ExitStatus.unavailable.rawValue)
        do {
            var command = try parseAsRoot(arguments)
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
        } catch {
            // Wrong usage of a command that passes on the exit status of another one is told apart from what that one says.
            if exitCode(for: error) == .validationFailure, ExclusiveCommand.isNamed(in: arguments) {
                StandardError.write(fullMessage(for: error))
                exit(withError: ExitCode(ExclusiveStatus.refusal))
            }
            exit(withError: error)
        }
    }
}
