internal import CoreAPI
internal import InMemoryBackend
internal import Synchronization
internal import TestInstruments

/// The executor of one simulated process: it runs on the thread of its group, unless the process is frozen or dead.
///
/// It represents a process as long as the process's code runs, also without a reference to its ``SimulatedProcess``:
/// code that kills the process finds it here.
///
/// The remaining work of a dead process never runs. Its tasks are kept for ever, because a task cannot be ended from
/// outside.
final class ProcessExecutor: SerialExecutor, TaskExecutor {
    private enum Condition {
        case alive, frozen, dead
    }

    private struct State {
        var condition = Condition.alive
        var held: [UnownedJob] = []
    }

    /// The killed processes of all groups. One set is enough, because no two processes have the same identity.
    private static let killed = Mutex<Set<ProcessIdentity>>([])

    /// The life of the process: it ends when the process is killed, and runs the actions registered for that.
    let life = SimulatedLife()
    private let thread: SimulationThread
    private let handle: MemoryGroup?
    private let state = Mutex(State())

    /// Makes the executor of a process that runs.
    ///
    /// - Parameter handle: The process's handle, which is killed and stopped with it.
    init(on thread: SimulationThread, handle: MemoryGroup? = nil) {
        self.thread = thread
        self.handle = handle
    }

    var isFrozen: Bool { state.withLock { $0.condition == .frozen } }

    func enqueue(_ job: consuming ExecutorJob) {
        submit(UnownedJob(job))
    }

    func freeze() {
        state.withLock { if $0.condition == .alive { $0.condition = .frozen } }
        handle?.simulateStop()
    }

    func thaw() {
        handle?.simulateContinue()
        let held = state.withLock { state -> [UnownedJob] in
            guard state.condition == .frozen else { return [] }
            state.condition = .alive
            defer { state.held = [] }
            return state.held
        }
        for job in held { submit(job) }
    }

    func kill() {
        state.withLock { $0.condition = .dead }
        if let handle { Self.killed.withLock { _ = $0.insert(handle.session.process) } }
        // The resources are released before the session ends, as the system does it: a process that is told of the end
        // of the session may check them at once.
        life.end()
        handle?.simulateKill()
    }

    static func wasKilled(_ process: ProcessIdentity) -> Bool {
        killed.withLock { $0.contains(process) }
    }

    private func submit(_ job: UnownedJob) {
        guard mayRun(job) else { return }
        thread.submit { [self] in
            // The process may have been frozen or killed since the job was submitted.
            guard mayRun(job) else { return }
            job.runSynchronously(isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
        }
    }

    /// Returns whether a job may run now; if not, it is kept.
    private func mayRun(_ job: UnownedJob) -> Bool {
        state.withLock { state in
            if state.condition != .alive { state.held.append(job) }
            return state.condition == .alive
        }
    }
}
