internal import Glibc

/// Returns the processor time that work takes on its thread. Other work of the machine does not make it longer.
package func processorTime(of work: () throws -> Void) rethrows -> Duration {
    let before = threadTime()
    try work()
    return threadTime() - before
}

private func threadTime() -> Duration {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
}
