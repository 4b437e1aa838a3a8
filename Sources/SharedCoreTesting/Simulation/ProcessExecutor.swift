internal import Synchronization

/// Where the code of one simulated process runs: the thread of its group, unless the process is frozen or dead.
///
/// What a dead process still had to do is never done. Its tasks are kept for good, since a task cannot be ended from outside.
final class ProcessExecutor: SerialExecutor, TaskExecutor {
    private enum Condition {
        case alive, frozen, dead
    }

    private struct State {
        var condition = Condition.alive
        var held: [UnownedJob] = []
    }

    private let thread: SimulationThread
    private let state = Mutex(State())

    init(on thread: SimulationThread) {
        self.thread = thread
    }

    var isFrozen: Bool { state.withLock { $0.condition == .frozen } }

    func enqueue(_ job: consuming ExecutorJob) {
        submit(UnownedJob(job))
    }

    func freeze() {
        state.withLock { if $0.condition == .alive { $0.condition = .frozen } }
    }

    func thaw() {
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
    }

    private func submit(_ job: UnownedJob) {
        guard mayRun(job) else { return }
        thread.submit { [self] in
            // It may have been frozen or killed since.
            guard mayRun(job) else { return }
            job.runSynchronously(isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
        }
    }

    /// Whether a job may run now; if not, it is kept.
    private func mayRun(_ job: UnownedJob) -> Bool {
        state.withLock { state in
            if state.condition != .alive { state.held.append(job) }
            return state.condition == .alive
        }
    }
}
