/// Runs tasks that prefer it on the threads of a ``SocketThread``, so that a delivery changes threads no more often than the
/// library does: whoever hears of it also resumes the task that waits for it.
///
/// It runs one job at a time, after the actor has done what there was to do; a job that does not return holds up the other
/// jobs of this executor and nobody else, because two threads wait and only one of them runs jobs.
///
/// Source: decision 22.
final class DeliveryExecutor: TaskExecutor {
    private let thread: SocketThread

    init(of thread: SocketThread) {
        self.thread = thread
    }

    func enqueue(_ job: consuming ExecutorJob) {
        thread.deliver(UnownedJob(job), to: self)
    }
}
