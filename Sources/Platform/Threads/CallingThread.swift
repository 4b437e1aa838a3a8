internal import CLinux
internal import Glibc
internal import Synchronization

/// Runs asynchronous calls on the thread of a caller that blocks.
///
/// For the C library: a call that never suspends returns without a change of thread, and any number of threads can wait without
/// using a thread of Swift's concurrent pool.
///
/// `@unchecked`, because the queue is a plain array: it is accessed only while `mutex` is held.
package final class CallingThread: TaskExecutor, @unchecked Sendable {
    private var jobs: [UnownedJob] = []
    /// True while a thread serves the queue.
    private var isServed = false
    private var isFinished = false
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    /// The executors that no caller uses now. They are never freed: a task may enqueue a job on one after its call has returned.
    private static let idle = Mutex<[CallingThread]>([])

    private init() {
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(condition, nil)
    }

    /// Blocks the calling thread until `body` has returned, and runs its task on that thread.
    package static func wait<Value: Sendable>(for body: @escaping @Sendable () async -> Value) -> Value {
        let executor = idle.withLock { $0.popLast() } ?? CallingThread()
        defer { idle.withLock { $0.append(executor) } }
        let result = Result<Value>()
        executor.begin()
        Task.detached(executorPreference: executor) {
            let value = await body()
            result.value.withLock { $0 = value }
            executor.finish()
        }
        while true {
            executor.serve()
            // `serve` returns after `finish`, which comes after the value.
            if let value = result.value.withLock({ $0 }) { return value }
        }
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        pthread_mutex_lock(mutex)
        let isServed = isServed
        if isServed {
            jobs.append(job)
            pthread_cond_signal(condition)
        }
        pthread_mutex_unlock(mutex)
        // A task that outlives its call runs on the pool.
        if !isServed { globalConcurrentExecutor.enqueue(job) }
    }

    private func begin() {
        pthread_mutex_lock(mutex)
        isServed = true
        isFinished = false
        pthread_mutex_unlock(mutex)
    }

    private func finish() {
        pthread_mutex_lock(mutex)
        isFinished = true
        pthread_cond_signal(condition)
        pthread_mutex_unlock(mutex)
    }

    private func serve() {
        var ready: [UnownedJob] = []
        while true {
            pthread_mutex_lock(mutex)
            while jobs.isEmpty && !isFinished { pthread_cond_wait(condition, mutex) }
            swap(&ready, &jobs)
            let isOver = ready.isEmpty
            if isOver { isServed = false }
            pthread_mutex_unlock(mutex)
            if isOver { return }
            for job in ready { job.runSynchronously(on: asUnownedTaskExecutor()) }
            ready.removeAll(keepingCapacity: true)
        }
    }

    private final class Result<Value: Sendable>: Sendable {
        let value = Mutex<Value?>(nil)
    }
}

/// The test for a process that was forked after the library was used.
package enum ForkedChild {
    /// True if the calling process is a child that was forked after the first read of this property. A forked child has
    /// none of its parent's threads, so no task runs in it.
    package static var isCurrent: Bool { clinux_is_forked_child() }
}
