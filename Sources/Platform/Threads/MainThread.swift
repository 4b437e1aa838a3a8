internal import Glibc

/// The thread that a program begins with.
public enum MainThread {
    /// Runs a whole program on the calling thread, which has to be the first: its task, those that are made within it, and
    /// nothing on Swift's concurrent pool.
    ///
    /// For a program that sleeps most of the time. Once anything has run on the pool, or on the main actor, a timer wakes
    /// the process every second for as long as it lives, whether there is anything to do or not. A program without it is woken by
    /// its participants alone:
    ///
    /// ```swift
    /// @main
    /// enum Chat {
    ///     static func main() {
    ///         MainThread.run {
    ///             let group = try await FileGroup.open(directory: "/run/chat", as: SessionDescription(role: .main))
    ///             for try await post in try await group.observe("news") { show(post.state) }
    ///             return 0
    ///         }
    ///     }
    /// }
    /// ```
    ///
    /// What it is to keep away from the pool are tasks: `async let` and the tasks of a group run here as well, and so does
    /// `Task(executorPreference:)` with an executor such as `deliveryExecutor` of a group. A plain `Task { }`, and
    /// `Task.sleep`, go to the pool. Code of the main actor never runs, because nobody runs its queue.
    ///
    /// - Parameter body: The program. What it returns is the status that the process exits with; what it throws is printed,
    ///   and the process exits with status 1.
    public static func run(_ body: @escaping @Sendable () async throws -> Int32) -> Never {
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
