internal import Glibc
internal import Synchronization

/// Runs jobs one after another on an owned thread, which lives while there are jobs.
///
/// For calls that block: `await thread.run { ... }` suspends the caller's task, not its thread.
package final class SerialThread: Sendable {
    private struct State {
        var jobs: [@Sendable () -> Void] = []
        var isRunning = false
    }

    private let name: String
    private let state = Mutex(State())

    package init(name: String) {
        self.name = name
    }

    /// Runs `job` on the thread, after all earlier ones. If the system has no thread left, it runs on the calling one,
    /// with its signals blocked.
    package func submit(_ job: @escaping @Sendable () -> Void) {
        let mustStart = state.withLock { state in
            state.jobs.append(job)
            defer { state.isRunning = true }
            return !state.isRunning
        }
        guard mustStart else { return }
        do throws(SystemCallError) {
            try OwnedThread.start(name) { [self] in drain() }
        } catch {
            // Other callers may have added jobs meanwhile, relying on the thread: running them here blocks, but loses
            // none.
            OwnedThread.withoutSignals { drain() }
        }
    }

    /// Runs `body` on the thread and returns its result.
    package func run<Value: Sendable, Failure: Error>(
        _ body: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let result: Result<Value, Failure> = await withCheckedContinuation { continuation in
            let job: @Sendable () -> Void = {
                do throws(Failure) {
                    continuation.resume(returning: .success(try body()))
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
            submit(job)
        }
        return try result.get()
    }

    private func drain() {
        while true {
            let jobs = state.withLock { state in
                let jobs = state.jobs
                state.jobs = []
                if jobs.isEmpty { state.isRunning = false }
                return jobs
            }
            if jobs.isEmpty { return }
            for job in jobs { job() }
        }
    }
}
