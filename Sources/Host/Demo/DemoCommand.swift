internal import ArgumentParser
internal import ProgramOutput

/// `demo`: the whole scenario with real processes.
struct DemoCommand: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo", abstract: "Run the whole story with real processes.",
        discussion: HelpPage.text(
            """
            In a temporary group and with a real Maildir: ten pushes at once, a hand-over to Main, a push that Main \
            answers, and Main's sudden death. Status 1 when a message was lost or came twice, two cores ran at once or a \
            rule was broken. With --backend memory the participants live in one process.
            """, examples: ["sharedcore demo"]))

    @OptionGroup(visibility: GlobalOptions.visibility) var global: GlobalOptions

    func run(in context: CommandContext) async throws {
        // Long enough that no message is right by luck.
        let summary = try await ScenarioGroup.run(
            "demo", coreStarting: .milliseconds(400), in: context
        ) { group in
            try await DemoScenario(in: group, reporter: DemoReporter(output: context.output)).run()
        }
        try await context.output.emit(lines: summary.lines, json: summary.json)
        if !summary.isClean { throw CommandFailure(.no) }
    }
}
