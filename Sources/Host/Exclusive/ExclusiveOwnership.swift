internal import CommandCore
internal import Coordination
internal import CoreAPI
internal import Platform
internal import ProgramOutput

/// The participant with the command of `exclusive` as its core.
struct ExclusiveOwnership {
    typealias Reporting = @Sendable (OwnershipWaitReason) -> Void

    private let program: ExclusiveProgram
    private let start:
        @Sendable (_ takingOver: Bool, _ insisting: Bool, Reporting?) async throws(CoordinationError) -> Void
    private let close: @Sendable () async -> Void

    init(
        _ role: ExclusiveRole, waitsItsTurn: Bool, of group: any SharedStore, options: CoordinationOptions,
        environment: CoordinationEnvironment, program: ExclusiveProgram, variables: [String: String],
        onOrder: @escaping @Sendable (CoreContext) -> Void
    ) throws(SharedCoreError) {
        self.program = program
        let core: @Sendable () -> any Core = { ExclusiveCore(program: program, variables: variables, onOrder: onOrder) }
        switch role {
        case .main:
            let main = try MainParticipant(of: group, options: options, environment: environment, core: core)
            start = { takingOver, insisting, reporting throws(CoordinationError) in
                if waitsItsTurn {
                    try await main.startInTurn(takingOver: takingOver, insisting: insisting, reporting: reporting)
                } else {
                    try await main.start(takingOver: takingOver, insisting: insisting, reporting: reporting)
                }
            }
            close = { await main.stop() }
        case .executor:
            let executor = try ExecutorParticipant(
                of: group, options: options, environment: environment, core: core)
            start = { _, _, reporting throws(CoordinationError) in
                try await executor.start(waitingItsTurn: waitsItsTurn, reporting: reporting)
            }
            close = { await executor.close() }
        }
    }

    /// Owns the core, runs the command to its end, and releases the ownership. Call it once.
    ///
    /// - Returns: The command's status; nil when it was not started.
    func run(takingOver: Bool, insisting: Bool, reporting: Reporting?) async throws -> Int32? {
        do {
            try await start(takingOver, insisting, reporting)
        } catch {
            // The command may have run and been told to end before its start was reported.
            await letGo()
            guard let status = await status() else { throw error }
            return status
        }
        let status = await status()
        await letGo()
        return status
    }

    /// Waits for the end of the command, even in a cancelled task: only the participant ends the command.
    private func status() async -> Int32? {
        await Task { [program] in await program.end() }.value
    }

    private func letGo() async {
        await Task { [close] in await close() }.value
    }
}

/// A core that is a program: it runs as long as the program does.
struct ExclusiveCore: Core {
    let program: ExclusiveProgram
    /// The variables of the program's environment that are added to this process's, or differ from them.
    let variables: [String: String]
    /// Called when the program is told to end because its ownership has ended. It must not block.
    let onOrder: @Sendable (CoreContext) -> Void

    func start(in context: CoreContext) async throws {
        let ended: [Key]
        do {
            ended = try await FormerCommand.end(in: context.store, under: context.epoch)
        } catch let error as CommandCoreError {
            throw CommandFailure(.unavailable, error.message)
        }
        let pid = try await program.start(
            variables: variables.merging(CoreVariables.of(context)) { _, own in own })
        FailPoint.hit("exclusive.beforeNote")
        // Write the note before the program runs. If the command detaches itself from this process, only this note
        // identifies it.
        do {
            try await FormerCommand.note(pid, in: context.store, forgetting: ended)
        } catch {
            await program.withdraw()
            throw error
        }
        program.begin()
    }

    /// Returns when the program has ended and the core is told to stop. The end of the program is not a failure of the
    /// core: the caller of the program handles it.
    func iterate(in context: CoreContext) async throws {
        _ = await program.end(lease: { context.store.lease }, onOrder: { onOrder(context) })
        while true { try await Task.sleep(for: .seconds(3600)) }
    }

    /// Does nothing: `iterate` returns, and a failed start throws, only after everything has ended.
    func stop() async {}
}
