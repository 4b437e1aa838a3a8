internal import ArgumentParser
internal import Coordination
internal import CoreAPI
internal import ProgramOutput

/// `status`: who is there, and who owns.
struct StatusCommand: HostCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Print who is there and who owns the core.")

    @OptionGroup var global: GlobalOptions

    func run(in context: CommandContext) async throws {
        let backend = try context.resolution.value(Settings.backend)
        let name = try context.resolution.value(Settings.group)
        let levels = try context.resolution.serviceLevels()
        try await context.withPresentGroup(for: "status") { group in
            let overview = StatusOverview(
                backend: backend, group: name, wakeUp: try await group.wakeUpInForce(),
                owner: try await GroupOwner.current(in: group),
                host: try await HostOverview(of: group),
                supervision: await SupervisionOverview(at: try context.resolution.runtimeDirectory()),
                life: try await LifeOverview(of: group, levels: levels),
                // Asked for last, so that the owner and the sessions stand at this revision or before it.
                sessions: try await group.sessions().filter { $0.id != group.session.id },
                revision: try await group.list(KeyPrefix(stringLiteral: ".sharedcore/ownership")).revision,
                usage: try await group.usage(), clock: WallTime())
            try await context.output.emit(text: overview.text, json: overview.json)
        }
    }
}
