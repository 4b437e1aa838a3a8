internal import CLinux
internal import Glibc

/// The first thread of a program.
public enum MainThread {
    /// Runs a whole program on the calling thread, which must be the first one: its task and child tasks, and nothing
    /// on Swift's concurrent pool.
    ///
    /// For a program that sleeps most of the time. Once anything has run on the pool, or on the main actor, a timer
    /// wakes the process every second until it ends, even when it is idle. A program that avoids both wakes only for
    /// its own events:
    ///
    /// ```swift
    /// import CoreAPI
    /// import FileNotifyBackend
    /// import Platform
    ///
    /// @main
    /// enum Chat {
    ///     static func main() {
    ///         MainThread.run {
    ///             let group = try await FileGroup.open(directory: "/run/chat", as: SessionDescription(role: .tool))
    ///             for try await post in try await group.observe("news") { print(post.state) }
    ///             return 0
    ///         }
    ///     }
    /// }
    /// ```
    ///
    /// Keep tasks away from the pool. Child tasks (`async let`, task groups) run here as well. A plain `Task { }` and
    /// `Task.sleep` go to the pool: `Task(executorPreference:)` with a group's `deliveryExecutor`, if the backend has
    /// one, and `SystemClock().sleep(until:)` do not. A core runs on the pool unless it is given another executor, and
    /// so do some of the libraries' own tasks, as for entries that expire (decision 28): then the timer runs.
    ///
    /// All of this shares one thread, so code that blocks or computes for long belongs on another. No thread runs the
    /// queue of the main actor: a task that awaits its code waits for ever.
    ///
    /// - Parameter body: The program. Its result is the exit status of the process. A thrown error is written to
    ///   standard error, and the process exits with status 1.
    public static func run(_ body: @escaping @Sendable () async throws -> Int32) -> Never {
        precondition(clinux_is_first_thread(), "MainThread.run is for the thread that the program begins with.")
        let executor = ThreadExecutor()
        Task.detached(executorPreference: executor) {
            do {
                exit(try await body())
            } catch {
                let line = Array("\(error)\n".utf8)
                _ = write(STDERR_FILENO, line, line.count)
                exit(1)
            }
        }
        executor.run()
    }
}
