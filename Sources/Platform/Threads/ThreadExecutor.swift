internal import Glibc

/// One thread that runs its jobs, as an executor of actors and of the tasks that prefer it.
///
/// The thread lives as long as the process, so it outlives every job. It also waits for the tasks that sleep on it: one
/// that has slept is resumed without another thread.
///
/// `@unchecked`, because the queue is a plain array: it is accessed only while `mutex` is held.
package final class ThreadExecutor: SerialExecutor, TaskExecutor, @unchecked Sendable {
    private var jobs: [UnownedJob] = []
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    /// The tasks that sleep on the thread, and what wakes it while it waits for them. Written by the thread alone.
    private var timed: (sleepers: Sleepers, counter: EventCounter)?
    /// True while the thread waits for sleeping tasks and jobs, and no job has woken it.
    private var isPolling = false

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
        if isPolling {
            isPolling = false
            timed?.counter.raise()
        } else {
            pthread_cond_signal(condition)
        }
        pthread_mutex_unlock(mutex)
    }

    /// Runs its jobs, on the calling thread.
    func run() -> Never {
        pthread_setspecific(Self.key, Unmanaged.passUnretained(self).toOpaque())
        var ready: [UnownedJob] = []
        while true {
            timed?.sleepers.wakeDue()
            pthread_mutex_lock(mutex)
            while jobs.isEmpty { wait() }
            swap(&ready, &jobs)
            pthread_mutex_unlock(mutex)
            for job in ready {
                job.runSynchronously(
                    isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
            }
            ready.removeAll(keepingCapacity: true)
        }
    }

    /// Waits for a job, with the mutex held.
    private func wait() {
        guard let timed else {
            pthread_cond_wait(condition, mutex)
            return
        }
        isPolling = true
        pthread_mutex_unlock(mutex)
        timed.sleepers.setTimer()
        let isReady = Poll.wait(for: [timed.counter.descriptor, timed.sleepers.timer.descriptor], timeout: nil)
        pthread_mutex_lock(mutex)
        isPolling = false
        pthread_mutex_unlock(mutex)
        if isReady[0] { timed.counter.clear() }
        if isReady[1] { timed.sleepers.timerRang() }
        pthread_mutex_lock(mutex)
    }

    // MARK: - Sleeping tasks

    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        let number = pthread_key_create(&key, nil)
        precondition(number == 0, "No key for a value of each thread is left: error \(number).")
        return key
    }()

    /// The executor of the calling thread; nil on a thread of no executor.
    static var current: ThreadExecutor? {
        pthread_getspecific(key).map { Unmanaged<ThreadExecutor>.fromOpaque($0).takeUnretainedValue() }
    }

    /// The tasks that sleep on this thread, for a caller on it. Nil while the system has no descriptor left.
    var sleepers: Sleepers? {
        if let timed { return timed.sleepers }
        guard let sleepers = try? Sleepers(isSetByThread: true), let counter = try? EventCounter() else { return nil }
        pthread_mutex_lock(mutex)
        timed = (sleepers, counter)
        pthread_mutex_unlock(mutex)
        return sleepers
    }
}
