public import Coordination
public import CoreAPI
internal import InMemoryBackend
internal import TestInstruments

/// A process of a simulated group: a handle with its own session, and the executor of its code.
///
/// It can be killed and frozen as the system does it to a real one. Give the code under test its ``group`` and its
/// ``environment``, and start it with ``run(_:)``:
///
/// ```swift
/// let app = try await group.process(.main, "app")
/// let program = app.run { try await MyApplication(group: app.group, environment: app.environment).run() }
/// ```
public final class SimulatedProcess: Sendable {
    /// The name of the process.
    public let name: String
    /// The process of its session. No real process has such an id.
    public let identity: ProcessIdentity
    /// The machine as the process sees it: the clock of the group, its processes, its witness, and the executor.
    public let environment: CoordinationEnvironment

    let simulation: SimulatedGroup
    private let handle: MemoryGroup
    let executor: ProcessExecutor

    init(
        _ name: String, _ identity: ProcessIdentity, _ handle: MemoryGroup, in simulation: SimulatedGroup, seed: UInt64
    ) {
        self.name = name
        self.identity = identity
        self.handle = handle
        self.simulation = simulation
        executor = ProcessExecutor(on: simulation.thread, handle: handle)
        var environment = CoordinationEnvironment(
            clock: simulation.clock, processes: SimulatedProcessControl(of: simulation),
            witness: SimulatedWitness(witness: simulation.witness, life: executor.life), seed: seed)
        environment.executor = executor
        self.environment = environment
    }

    /// The handle of the group that the process has open. Call it in the process: while the process is frozen, a call
    /// from the test waits for ``thaw()``.
    public var group: any SharedGroup { handle }

    /// True after the process was killed.
    public var isDead: Bool { executor.life.isOver }

    /// True while the process is frozen.
    public var isFrozen: Bool { executor.isFrozen }

    /// Begins to run code in the process. Code that it awaits also runs in the process, except in a separate `Task`.
    ///
    /// It must not block, because the whole group has only one thread.
    @discardableResult
    public func run<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) -> SimulatedRun<Value> {
        let run = SimulatedRun<Value>(of: name, in: simulation)
        let task = Task(executorPreference: executor) { [executor] in
            do {
                run.end(with: .success(try await body()))
            } catch {
                run.end(with: .failure(error))
            }
            // The executor is referenced while the code runs, so that a process that kills or checks this one can find
            // it.
            withExtendedLifetime(executor) {}
        }
        run.canBeCancelled(by: task)
        executor.life.atEnd { [name] in run.end(with: .failure(ProcessKilled(name: name))) }
        return run
    }

    /// Kills the process, as SIGKILL does: its code runs no further, its session ends, and the others learn of it.
    ///
    /// The kill takes place when all processes wait, so that each run is the same: work that was begun before has
    /// continued as far as possible without time passing. If the process does not wait within `TestTimeout.usual`, it
    /// is killed anyway.
    public func kill() async {
        await whenIdle { $0.kill() }
    }

    /// Freezes the process, as SIGSTOP does: its code does not run until ``thaw()``, and its session stays.
    ///
    /// This takes place when all processes wait, as with ``kill()``.
    public func freeze() async {
        await whenIdle { $0.freeze() }
    }

    /// Continues the process after ``freeze()``, with the events since then. Returns when all processes wait again.
    public func thaw() async {
        await whenIdle { $0.thaw() }
    }

    private func whenIdle(_ change: @escaping @Sendable (ProcessExecutor) -> Void) async {
        // If a process makes this call, no other code runs.
        guard !simulation.thread.isCurrent else { return change(executor) }
        do {
            try await simulation.thread.whenIdle { [executor] in change(executor) }
        } catch {
            // If another process of the group blocks, or the test is cancelled, the process is killed, frozen or thawed
            // all the same.
            change(executor)
        }
    }
}

/// The processes of a simulated group, as a participant sees and kills them.
struct SimulatedProcessControl: ProcessControl {
    private let find: @Sendable (ProcessIdentity) -> ProcessExecutor?

    init(of simulation: SimulatedGroup) {
        find = { [weak simulation] identity in simulation?.executor(of: identity) }
    }

    func isStopped(_ process: ProcessIdentity) async -> Bool? {
        find(process)?.isFrozen
    }

    func isExiting(_ process: ProcessIdentity) async -> Bool {
        find(process)?.life.isOver ?? true
    }

    func kill(_ process: ProcessIdentity, unless doubt: @Sendable () async -> String?) async -> KillResult {
        guard let found = find(process), !found.life.isOver else { return .gone }
        // The caller is a process of the group, so no other code runs.
        found.kill()
        return .signalled
    }
}

/// The group's witness as one process uses it: the locks of a killed process are released, as the system does.
struct SimulatedWitness: Witness {
    let witness: MemoryWitness
    let life: SimulatedLife

    func begin(epoch: Revision) throws(SharedCoreError) -> any WitnessHold {
        let hold = witness.begin(epoch: epoch)
        life.atEnd { hold.end() }
        return hold
    }
}
