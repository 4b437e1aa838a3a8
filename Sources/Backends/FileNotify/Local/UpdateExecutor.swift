internal import Platform
internal import Synchronization

/// Runs tasks that prefer it on the threads that receive updates, so that a delivery changes threads once: the thread
/// that receives an update also resumes the task that waits for it.
///
/// It runs one job at a time, after every listener has received the updates. A job that does not return delays only the
/// other jobs of this executor: two threads wait for updates, and only one of them runs jobs.
///
/// Source: decision 22.
final class UpdateExecutor: TaskExecutor {
    fileprivate struct State {
        var jobs: [UnownedJob] = []
        /// The threads that are awake with updates. Each checks for jobs before it sleeps.
        var serving: [ThreadIdentity] = []
        /// The one that runs jobs.
        var runner: ThreadIdentity?
    }

    private let state = Mutex(State())
    private let counter: EventCounter

    /// Makes an executor without jobs.
    ///
    /// - Parameter counter: Wakes one of the threads.
    init(waking counter: EventCounter) {
        self.counter = counter
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        // Under the lock: the job may hold the last reference to the group, and with it to this object, and another
        // thread may have run it once the lock is released.
        state.withLock { state in
            state.jobs.append(job)
            let isExpected = state.runner != nil || state.serving.contains(ThreadIdentity.current)
            if !isExpected { counter.raise() }
        }
    }

    /// Wakes another thread for the waiting jobs, if one can run them.
    func offerJobs() {
        if state.withLock({ $0.runner == nil && !$0.jobs.isEmpty }) { counter.raise() }
    }

    /// Runs the jobs that result from the updates delivered by `tell`, and other waiting jobs, unless another thread
    /// does so.
    func runJobs(after tell: () -> Void) {
        let thread = ThreadIdentity.current
        state.withLock { $0.serving.append(thread) }
        tell()
        while true {
            let jobs = state.withLock { $0.takeJobs(for: thread) }
            if jobs.isEmpty { return }
            for job in jobs { job.runSynchronously(on: asUnownedTaskExecutor()) }
        }
    }
}

extension UpdateExecutor.State {
    /// Returns the jobs that a thread must run; none if it may sleep.
    fileprivate mutating func takeJobs(for thread: ThreadIdentity) -> [UnownedJob] {
        guard runner == nil || runner == thread, !jobs.isEmpty else {
            if runner == thread { runner = nil }
            serving.removeAll { $0 == thread }
            return []
        }
        runner = thread
        defer { jobs = [] }
        return jobs
    }
}
