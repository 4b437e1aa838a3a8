internal import ArgumentParser
internal import Coordination
internal import CoreAPI
internal import ExecutorRun
internal import Platform
internal import ProgramOutput
internal import SharedCoreConfiguration

/// `executor`: runs one Executor, as a push does.
struct ExecutorCommand: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "executor",
        abstract: "Wait for the message or the call of a call-id, as a push does, and print it.",
        usage: "sharedcore executor --call-id <id> [<options>]",
        discussion: HelpPage.text(
            """
            The message comes from the process that has it. If no process runs the core, this one does, and continues for \
            others that wait.

            Status 0 for a message, one that is too large, a call, or nothing to show; 1 when refused, timed out or \
            fenced. 69 when the group cannot be used now or the session is over; 70 when the core failed.
            """, examples: ["sharedcore executor --call-id 17 --timeout 20s"]))

    @OptionGroup(visibility: GlobalOptions.visibility) var global: GlobalOptions

    @Option(name: .customLong("call-id"), help: ArgumentHelp("The call-id that the push announced.", valueName: "id"))
    var callID: String

    @Option(
        help: .duration("How long to wait, such as 20s (default: the executor's budget)."),
        transform: DurationText.argument)
    var timeout: Duration?

    @Option(help: "The participant's name for people.")
    var name = "sharedcore executor"

    @Flag(help: "Run the core here, even if the inbox has the message; refused while Main owns.")
    var own = false

    @Flag(help: .hidden)
    var confirmed = false

    func validate() throws {
        if callID.isEmpty { throw ValidationError("--call-id cannot be empty.") }
    }

    func run(in context: CommandContext) async throws {
        guard let callID = CallID(callID) else { throw CommandFailure.usage("--call-id cannot be empty") }
        let resolution = context.resolution
        let options = try resolution.coordinationOptions()
        // One deadline covers the opening of the group, the wait and the core's work (contract C7).
        let timeout = timeout ?? options.executorBudget
        let deadline = CommandDeadline(after: timeout, by: context.clock)
        var request = ExecutorRequest(
            callID: callID, timeout: timeout, insists: own,
            maildir: try resolution.maildir(), startDelay: try resolution.value(Settings.coreStartDelay),
            memory: try resolution.value(Settings.executorMemory), options: options, witness: try resolution.witness())
        request.isConfirmed = confirmed
        request.command = try resolution.coreProgram()
        let description = SessionDescription(role: .executor, name: name)
        let limit = self.timeout == nil ? Settings.executorBudget.name : "--timeout"
        let end = "\(limit) \(DurationText.write(timeout)) ends the wait"
        try await context.reportingWaits(endedBy: end) { reporting in
            request.reporting = reporting
            try await context.withGroup(as: description, for: "executor", until: deadline) { [request] group in
                var request = request
                request.timeout = deadline.left ?? timeout
                try await context.noteWakeUp(of: group)
                let report = try await ExecutorRun.run(request, in: group) { report in
                    let text = await sentence(of: report, for: request, in: group)
                    try await context.output.confirm(text: text, json: report.json)
                }
                guard report.status != .success else { return }
                // The text report contains the reason already.
                throw CommandFailure(report.status, context.output.json ? report.reason : nil)
            }
        }
    }

    /// Returns the report as text. If no message came, it names where messages come from: the owner's core, which may
    /// be any program, as with `exclusive`; else the Maildir of this command's core, because the user may have put the
    /// message into another one.
    private func sentence(
        of report: ExecutorReport, for request: ExecutorRequest, in group: any SharedGroup
    ) async -> String {
        guard report.event == .timeout else { return report.sentence }
        // Without an answer of the store, say only what is certain.
        if let owner = try? await GroupOwner.current(in: group), owner.session != group.session.id {
            let role = owner.role == .main ? "Main" : "Executor"
            return report.sentence
                + " The \(role) “\(ValueText.oneLine(owner.name))”, pid \(owner.process.pid), owns the "
                + "core, so messages come from its core only."
        }
        guard request.command == nil else { return report.sentence }
        return report.sentence + " The core fetches from the Maildir “\(request.maildir)” (core.maildir)."
    }
}

extension ExecutorReport {
    /// The report for a person.
    var sentence: String {
        switch event {
        case .message, .tooLarge:
            (from.map { "From \(ValueText.oneLine($0)): " } ?? "") + (message?.content.sentence ?? "")
        case .call:
            (from.map { "From \(ValueText.oneLine($0)): " } ?? "") + "a call, "
                + (text.map { ValueText.oneLine($0) } ?? "")
        case .nothing: "There is nothing to show."
        case .refused: reason ?? "Refused, because Main owns."
        case .timeout: reason ?? "No message came in time."
        case .fenced: reason ?? "Ownership was taken away."
        }
    }
}
