internal import ArgumentParser
internal import CoreAPI
internal import Lifecycle
internal import Platform
internal import SharedCoreConfiguration

/// `serve`: the host of a group.
struct ServeCommand: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Serve pushes until stopped: start an Executor for each.",
        discussion: HelpPage.text(
            """
            Pushes come from “sharedcore push”, from a socket and from a watched Maildir; they wait in the group until an \
            Executor has dealt with them. SIGHUP reads the configuration again, SIGTERM stops in order. Status 69 when the \
            group has a host already. Docs/Guide/Host.md says more.
            """, examples: ["sharedcore serve --log-level info"]))

    @OptionGroup(visibility: GlobalOptions.visibility) var global: GlobalOptions

    func run(in context: CommandContext) async throws {
        // Report errors of the configuration before any work begins.
        let settings = try ExecutorSettings(context.resolution)
        _ = try context.resolution.overview()
        // Before any other start, such as that of a hub: a cgroup can only be used by a process that is alone in it.
        let cgroupLimit =
            settings.limits.memory == nil
            ? nil : CgroupLimit.ownPath().flatMap { CgroupLimit(at: $0, process: ProcessIdentity.current.pid) }
        // Each Executor needs a few descriptors here.
        SpareDescriptors.raiseLimit()
        let description = SessionDescription(role: SessionRole(rawValue: "host"), name: "sharedcore serve")
        try await context.withGroup(as: description, for: "serve") { group in
            try await context.noteWakeUp(of: group)
            let run = try await HostRun(
                group, settings: settings, cgroupLimit: cgroupLimit, context: context, global: global)
            // In a task of its own, so that begun work is completed when the host must stop.
            let work = Task { try await run.serve() }
            try await withTaskCancellationHandler {
                try await work.value
            } onCancel: {
                run.stop()
            }
        }
    }
}
