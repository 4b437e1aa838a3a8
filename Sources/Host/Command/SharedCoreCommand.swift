internal import ArgumentParser

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
            ExecutorCommand.self, StatusCommand.self, TimelineCommand.self, CheckCommand.self, ConformanceCommand.self, ConfigCommand.self,
            ConformancePeerCommand.self,
        ]
        #if ZMQ
            subcommands.append(HubCommand.self)
        #endif
        return subcommands
    }

    @OptionGroup var global: GlobalOptions
}
