internal import BackendRegistry
internal import Coordination
internal import CoreAPI
internal import Logging

/// One soak, from its temporary group to its summary.
struct SoakPlay: Sendable {
    let seed: UInt64
    let duration: Duration

    /// How long a core takes to connect unless configured: shorter than most lives.
    private static let startDuration = Duration.milliseconds(20)

    /// - Parameter isOver: Asked after each round whether no more are to be played.
    func run(
        in context: CommandContext, isOver: @escaping @Sendable () -> Bool, progress: SoakProgress?
    ) async throws -> SoakSummary {
        try context.resolution.checkBackend(among: context.registry.names)
        let directory = try ScratchDirectory(for: "soak", environment: context.resolution.environment)
        defer { directory.remove(logger: context.logger) }
        let server = try DemoServer(path: directory.path + "/Maildir")
        let startDuration = try startDuration(in: context)
        let context = context.with(DemoCommand.settings(maildir: server.path, startDuration: startDuration))
        let backend = try context.resolution.value(Settings.backend)
        guard backend != "memory" else {
            let players = try await MemoryPlayers(
                of: "soak", maildir: server.path, startDuration: startDuration,
                options: try context.resolution.coordinationOptions())
            return try await play(
                on: MemorySoakStage(players: players), server, backend: backend, isOver: isOver, progress: progress)
        }
        #if ZMQ
            if backend == "zmq" {
                return try await ScratchHub.serving(directory.path, in: context) { context in
                    try await playWithProcesses(server, in: context, isOver: isOver, progress: progress)
                }
            }
        #endif
        #if Etcd
            if backend == "etcd" {
                return try await ScratchKeys.holding(directory.path, in: context) { context in
                    try await playWithProcesses(server, in: context, isOver: isOver, progress: progress)
                }
            }
        #endif
        return try await playWithProcesses(
            server, in: context.with(DemoCommand.settings(in: directory.path)), isOver: isOver, progress: progress)
    }

    private func playWithProcesses(
        _ server: DemoServer, in context: CommandContext, isOver: @Sendable () -> Bool, progress: SoakProgress?
    ) async throws -> SoakSummary {
        let handle = try await context.openGroup(
            as: SessionDescription(role: .tool, name: "sharedcore soak"), for: "soak")
        do {
            let programs = try DemoPrograms(context.resolution)
            let summary = try await play(
                on: ProcessSoakStage(group: handle, programs: programs), server,
                backend: try context.resolution.value(Settings.backend), isOver: isOver, progress: progress)
            await handle.close()
            return summary
        } catch {
            await handle.close()
            throw error
        }
    }

    private func startDuration(in context: CommandContext) throws -> Duration {
        let configured = try context.resolution.value(Settings.coreStartDuration)
        return configured > .zero ? configured : Self.startDuration
    }

    private func play(
        on stage: any SoakStage, _ server: DemoServer, backend: String, isOver: @Sendable () -> Bool,
        progress: SoakProgress?
    ) async throws -> SoakSummary {
        let soak = Soak(stage: stage, server: server, seed: seed, killsItself: false)
        let starts = try await CoreStartCounter(following: stage.group)
        let clock = ContinuousClock()
        let end = clock.now.advanced(by: duration)
        try await soak.run(until: { _ in clock.now >= end || isOver() }, progress: { progress?.show($0) })
        progress?.clear()
        let history = try await Timeline(stage.group).history()
        return SoakSummary(
            backend: backend, seed: seed, count: soak.count,
            coreStarts: try await starts.count(through: history.records.last?.revision ?? .zero),
            problems: soak.problems, report: TimelineChecker.check(history))
    }
}
