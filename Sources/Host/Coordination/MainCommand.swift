internal import ArgumentParser
internal import Coordination
internal import CoreAPI
internal import ExecutorRun
internal import MaildirCore
internal import Platform
internal import ProgramOutput
internal import SharedCoreConfiguration

/// `main`: runs a Main with the configured core until stopped.
struct MainCommand: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "main", abstract: "Run a Main with the configured core until stopped.",
        discussion: HelpPage.text(
            """
            Prints a line when it owns the core, and a line when the core has ended for good. A core that fails in between \
            is started again, with a line in the log. Also prints each unacknowledged call, then each call that begins, \
            changes or ends. With --pushes, prints each push that push.routes routes to Main, and acknowledges it. Status 1 \
            when another Main owns, or has taken over.
            """, examples: ["sharedcore main --take-over", "sharedcore main --pushes --json"]))

    @OptionGroup(visibility: GlobalOptions.visibility) var global: GlobalOptions

    @Flag(help: "Take over from another Main that owns.")
    var takeOver = false

    @Flag(help: "Interrupt the owner's activities, instead of waiting for them.")
    var insist = false

    @Flag(help: "Take the pushes that are routed to Main: print each, then acknowledge it.")
    var pushes = false

    func run(in context: CommandContext) async throws {
        let resolution = context.resolution
        let maildir = try resolution.maildir()
        let command = try resolution.coreProgram()
        let startDelay = try resolution.value(Settings.coreStartDelay)
        let memory = try resolution.value(Settings.executorMemory)
        let options = try resolution.coordinationOptions()
        let environment = CoordinationEnvironment(witness: try resolution.witness())
        try await context.withGroup(as: SessionDescription(role: .main, name: "sharedcore main"), for: "main") {
            group in
            try await context.noteWakeUp(of: group)
            let main = try MainParticipant(of: group, options: options, environment: environment) {
                command?.makeCore() ?? MaildirCore(directory: maildir, startDelay: startDelay, memory: memory)
            }
            // Also reported while Main runs, because it waits again after a failure of its core.
            try await context.reportingWaits { reporting in
                do {
                    try await main.start(takingOver: takeOver, insisting: insist, reporting: reporting)
                } catch let error as CoordinationError {
                    await stop(main)
                    throw CommandFailure(error)
                }
                try await runOn(main, in: group, context: context)
            }
        }
    }

    /// Prints that this Main owns, and waits for its end.
    private func runOn(_ main: MainParticipant, in group: any SharedGroup, context: CommandContext) async throws {
        let epoch = await main.epoch
        let pid = ProcessIdentity.current.pid
        do {
            try await context.output.emit(
                text: "Main (pid \(pid)) owns the core" + (epoch.map { ", as epoch \($0)." } ?? "."),
                json: [
                    "event": "owning", "epoch": epoch.map { .natural($0.rawValue) } ?? .null,
                    "pid": .integer(Int64(pid)),
                ])
        } catch {
            await stop(main)
            throw error
        }
        let printer = pushes ? MainPushPrinter(of: main, to: context.output, logger: context.logger) : nil
        let calls = CallPrinter(of: group, to: context.output)
        let end = await withTaskCancellationHandler {
            await withTaskGroup(of: Void.self) { tasks in
                tasks.addTask { await calls.run(stop: { await main.stop() }) }
                if let printer { tasks.addTask { await printer.run() } }
                let end = await main.waitUntilEnded()
                tasks.cancelAll()
                return end
            }
        } onCancel: {
            Task { await main.stop() }
        }
        await stop(main)
        try printer?.check()
        try await calls.finish()
        try await report(end, of: group, context: context)
    }

    /// Stops the core and releases the ownership. Runs in a separate task, because a wait in a cancelled task ends at
    /// once.
    private func stop(_ main: MainParticipant) async {
        await Task { await main.stop() }.value
    }

    /// Returns the reason for the end of the group's session, from the error of a call; nil if the call succeeds.
    private static func loss(of group: any SharedGroup) async -> String? {
        do throws(SharedCoreError) {
            try await group.sync()
            return nil
        } catch {
            return error.sentence
        }
    }

    private func report(_ end: MainEndReason, of group: any SharedGroup, context: CommandContext) async throws {
        let (event, sentence, failure): (String, String, CommandFailure?) =
            switch end {
            case .stopped: ("stopped", "Main has stopped.", nil)
            case .superseded: ("superseded", "Another Main took over.", CommandFailure(.no))
            case .sessionEnded:
                (
                    "sessionEnded", "The session is over for the group.",
                    CommandFailure(.unavailable, await Self.loss(of: group))
                )
            case .coreFailed(let problem):
                (
                    "coreFailed", "Main has ended: \(problem)",
                    CommandFailure(.coreFailed, problem)
                )
            }
        try await context.output.emit(text: sentence, json: ["event": .text(event)])
        if let failure { throw failure }
    }
}
