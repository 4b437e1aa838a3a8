internal import ArgumentParser

/// An alias of a command, as a separate command: the parser does not write aliases into a completion script.
private struct CommandAlias<Command: ParsableCommand>: AsyncParsableCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: Command.configuration.aliases[0], abstract: Command.configuration.abstract)
    }

    @OptionGroup var command: Command
}

extension [any ParsableCommand.Type] {
    /// The commands; while a completion script is written, each is followed by its other name.
    var withAliases: Self {
        GlobalOptions.writesCompletions ? flatMap { [$0] + Self.alias(of: $0) } : self
    }

    private static func alias<Command: ParsableCommand>(of command: Command.Type) -> Self {
        command.configuration.aliases.isEmpty ? [] : [CommandAlias<Command>.self]
    }
}
