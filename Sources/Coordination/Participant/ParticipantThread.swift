internal import Glibc
internal import Platform

/// The one thread of the process on which all participants run, and nothing else: an owner answers its challenges even
/// while the application's own tasks hold every thread of the cooperative pool.
///
/// It is the executor of their actors, and the one that their tasks prefer. The second matters as much as the first:
/// without a preference, a task that is resumed goes by way of the pool to its actor.
///
/// The thread lives as long as the process, so it outlives every job.
///
/// Unchecked, because the queue is a plain array: it is touched only while `mutex` is held.
final class ParticipantThread: SerialExecutor, TaskExecutor, @unchecked Sendable {
    /// The thread, started by whoever asks first.
    static let shared = ParticipantThread()

    private var jobs: [UnownedJob] = []
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    private init() {
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(condition, nil)
        start()
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        pthread_mutex_lock(mutex)
        jobs.append(job)
        pthread_cond_signal(condition)
        pthread_mutex_unlock(mutex)
    }

    /// A process without a thread to spare would never run a participant, so this waits for one.
    private func start() {
        while true {
            do throws(SystemCallError) {
                try OwnedThread.start("sharedcore") { [self] in run() }
                return
            } catch {
                usleep(10_000)
            }
        }
    }

    private func run() {
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
