package import Platform
internal import Synchronization

/// The error of a program's work that SIGINT or SIGTERM has ended.
package struct Interrupted: Error, Hashable, Sendable {
    /// How the program ends.
    package let status: ExitStatus
    /// The message for a person.
    package let message = "interrupted"
}

/// Handles SIGINT and SIGTERM in a program that prints its results before the signal ends it.
package final class Interruption<Result: Sendable>: Sendable {
    private struct State {
        var signal: ProcessSignal?
        var count = 0
        var running: Task<Result, any Error>?
    }

    private let state = Mutex(State())
    private let toleratedCount: Int

    /// Begins to receive SIGINT and SIGTERM.
    ///
    /// - Parameter toleratedCount: How many signals leave the work running, which reads ``isRaised`` to end by itself.
    ///   The next one cancels it, and after that a second one of its kind ends the process at once.
    package init(toleratedCount: Int = 0) throws(SystemCallError) {
        self.toleratedCount = toleratedCount
        try SignalRelay.begin([.interrupt, .terminate]) { [self] signal, _ in
            let (isOver, running) = state.withLock { state in
                state.signal = state.signal ?? signal
                state.count += 1
                return (state.count > toleratedCount, state.running)
            }
            guard isOver else { return }
            SignalRelay.end(signal)
            running?.cancel()
        }
    }

    /// True after one of the signals came.
    package var isRaised: Bool { state.withLock { $0.signal != nil } }

    /// Throws if a signal has come.
    ///
    /// - Throws: ``Interrupted``, with the first signal.
    package func check() throws(Interrupted) {
        guard let signal = state.withLock(\.signal) else { return }
        throw Interrupted(status: signal == .interrupt ? .interrupted : .terminated)
    }

    /// Runs the work in a task of its own, so that a signal cancels the work and not the printing of its result.
    ///
    /// - Throws: ``Interrupted`` in place of the work's own error, if a signal has cancelled it.
    package func run(_ body: @escaping @Sendable () async throws -> Result) async throws -> Result {
        let task = Task { try await body() }
        let isOver = state.withLock { state in
            state.running = task
            return state.count > toleratedCount
        }
        if isOver { task.cancel() }
        do {
            return try await task.value
        } catch {
            // A signal has cancelled the work, so its error is no failure.
            if state.withLock({ $0.count > toleratedCount }) { try check() }
            throw error
        }
    }
}
