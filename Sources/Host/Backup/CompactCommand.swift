internal import ArgumentParser
internal import ProgramOutput

/// `compact`: replaces the group's journal by a shorter one.
struct CompactCommand: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "compact", abstract: "Replace the group's journal by one with a snapshot.",
        discussion: HelpPage.text(
            """
            Participants do so themselves when the journal has become long: this gives the space back at once, such as \
            before a backup of the directory. For groups in files, also behind a hub on files that is reached by ipc. The \
            timeline tells of it.
            """, examples: ["sharedcore compact"]))

    @OptionGroup(visibility: GlobalOptions.visibility) var global: GlobalOptions

    func run(in context: CommandContext) async throws {
        let receipt = try await context.perform(.compact, for: "compact")
        try await context.output.confirm(text: receipt.text, json: receipt.json)
    }
}
