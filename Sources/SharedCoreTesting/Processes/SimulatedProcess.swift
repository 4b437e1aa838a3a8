public import Coordination
public import CoreAPI
internal import InMemoryBackend
internal import TestInstruments

/// A process of a simulated group: a handle with its own session, and an executor that its code runs on.
///
/// It can be killed and frozen as the system does it to a real one. Give what you test its ``group`` and its
/// ``environment``, and start it with ``run(_:)``:
///
/// ```swift
/// let app = try await group.process(.main, "app")
/// let program = app.run { try await MyApplication(group: app.group, environment: app.environment).run() }
/// ```
public final class SimulatedProcess: Sendable {
    /// Its name.
    public let name: String
    /// Which process its session belongs to. No real process has such an id.
    public let identity: ProcessIdentity
    /// What the process has of the machine: the clock of the group, its processes, its witness, and the executor.
    public let environment: CoordinationEnvironment

    let simulation: SimulatedGroup
    private let handle: MemoryGroup
    private let executor: ProcessExecutor
    private let life = SimulatedLife()

    init(
        _ name: String, _ identity: ProcessIdentity, _ handle: MemoryGroup, in simulation: SimulatedGroup, seed: UInt64
    ) {
        self.name = name
        self.identity = identity
        self.handle = handle
        self.simulation = simulation
        executor = ProcessExecutor(on: simulation.thread)
        var environment = CoordinationEnvironment(
            clock: simulation.clock, processes: SimulatedProcessControl(of: simulation),
            witness: SimulatedWitness(witness: simulation.witness, life: life), seed: seed)
        environment.executor = executor
        self.environment = environment
    }

    /// Its handle of the group.
    public var group: any SharedGroup { handle }

    /// Whether it was killed.
    public var isDead: Bool { life.isOver }

    /// Whether it is frozen.
    public var isFrozen: Bool { executor.isFrozen }

    /// Begins to run code in the process. What it awaits goes on in the process, except in a `Task` of its own.
    ///
    /// It must not block: it has the thread of the whole group.
    @discardableResult
    public func run<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) -> SimulatedRun<Value> {
        let run = SimulatedRun<Value>(of: name, in: simulation)
        let task = Task(executorPreference: executor) {
            do {
                run.end(with: .success(try await body()))
            } catch {
                run.end(with: .failure(error))
            }
        }
        run.canBeCancelled(by: task)
        life.atEnd { [name] in run.end(with: .failure(ProcessKilled(name: name))) }
        return run
    }

    /// Kills it, as SIGKILL does: its code goes no step further, its session ends, and the others hear of it.
    public func kill() {
        executor.kill()
        handle.simulateKill()
        life.end()
    }

    /// Freezes it, as SIGSTOP does: its code goes no step further until ``thaw()``, and its session stands.
    ///
    /// Where it is then is as exact as the test: after an `advance` or a ``SimulatedRun/value`` every process waits.
    public func freeze() {
        executor.freeze()
        handle.simulateStop()
    }

    /// Lets it go on after ``freeze()``, with what came meanwhile.
    public func thaw() {
        handle.simulateContinue()
        executor.thaw()
    }
}
