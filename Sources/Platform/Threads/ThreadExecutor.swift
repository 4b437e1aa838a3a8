internal import Glibc

/// One thread that runs its jobs, as an executor of actors and of the tasks that prefer it.
///
/// The thread lives as long as the process, so it outlives every job.
///
/// `@unchecked`, because the queue is a plain array: it is accessed only while `mutex` is held.
package final class ThreadExecutor: SerialExecutor, TaskExecutor, @unchecked Sendable {
    private var jobs: [UnownedJob] = []
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    /// Creates an executor without a thread of its own: it uses the caller of ``run()``.
    init() {
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(condition, nil)
    }

    /// Creates an executor with a thread of its own. Without a thread no job would ever run, so this waits for one.
    package convenience init(thread name: String) {
        self.init()
        while true {
            do throws(SystemCallError) {
                try OwnedThread.start(name) { [self] in run() }
                return
            } catch {
                usleep(10_000)
            }
        }
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        pthread_mutex_lock(mutex)
        jobs.append(job)
        pthread_cond_signal(condition)
        pthread_mutex_unlock(mutex)
    }

    /// Runs its jobs, on the calling thread.
    func run() -> Never {
        var ready: [UnownedJob] = []
        while true {
            pthread_mutex_lock(mutex)
            while jobs.isEmpty { pthread_cond_wait(condition, mutex) }
            swap(&ready, &jobs)
            pthread_mutex_unlock(mutex)
            for job in ready {
                job.runSynchronously(
                    isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
            }
            ready.removeAll(keepingCapacity: true)
        }
    }
}
