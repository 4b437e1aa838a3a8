internal import Glibc

/// Waits for a condition on this thread, where no task can: in `deinit`, on a thread that simulates a stopped process,
/// while the pool of tasks is taken. Gives whether it came.
@discardableResult
package func waitOnThread(atMost limit: Duration, until condition: () -> Bool) -> Bool {
    let end = ContinuousClock.now + limit
    while !condition() {
        if ContinuousClock.now >= end { return false }
        usleep(1000)
    }
    return true
}

/// Never ends by itself: waits until its task is cancelled, and then throws.
package func untilCancelled() async throws {
    while true { try await Task.sleep(for: .seconds(3600)) }
}
