internal import Coordination

/// A core that is a program: it runs while the program does.
struct CommandCore: Core {
    let program: ExclusiveProgram

    func start(in context: CoreContext) async throws {
        try await FormerCommand.end(in: context.store)
        let pid = try await program.start()
        // A store that refuses it takes nothing away: the kernel ends the command with this process.
        try? await FormerCommand.note(pid, in: context.store)
    }

    /// Returns only when the program is gone, and when the core is told to stop: that its program has ended is for
    /// whoever runs the command to act upon, and no fault of the core.
    func iterate(in context: CoreContext) async throws {
        _ = await program.end()
        while true { try await Task.sleep(for: .seconds(3600)) }
    }

    /// Nothing is left when `iterate` has returned. A start that threw has left nothing either.
    func stop() async {}
}
