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
        // Prepare the cgroup before any other process is started, such as a hub: it can only be used while this process
        // is alone in it.
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
            // Use a separate task, so that work that has begun is completed when the host must stop.
            let work = Task { try await run.serve() }
            try await withTaskCancellationHandler {
                try await work.value
            } onCancel: {
                run.stop()
            }
        }
    }
}
