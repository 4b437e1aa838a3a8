internal import Glibc
internal import Platform
internal import ProgramOutput
internal import Synchronization

/// SIGINT and SIGTERM of a command that shows what it has done before it ends by them.
final class Interruption<Result: Sendable>: Sendable {
    private struct State {
        var signal: Int32?
        var count = 0
        var running: Task<Result, any Error>?
    }

    private let state = Mutex(State())
    private let patience: Int

    /// - Parameter patience: How many signals come before the work is cancelled. The work looks at ``signal`` until then.
    init(patience: Int = 0) throws {
        self.patience = patience
        try SignalRelay.begin([SIGINT, SIGTERM]) { [self] number, _ in
            let running = state.withLock { state in
                state.signal = state.signal ?? number
                state.count += 1
                return state.count > patience ? state.running : nil
            }
            running?.cancel()
        }
    }

    /// The first of them that came.
    var signal: Int32? { state.withLock(\.signal) }

    /// How the command ends when one came.
    var failure: CommandFailure? {
        signal.map { CommandFailure($0 == SIGINT ? .interrupted : .terminated, "interrupted") }
    }

    /// Does some work in a task of its own: it is cancelled, and what is printed of it is not.
    func run(_ body: @escaping @Sendable () async throws -> Result) async throws -> Result {
        let task = Task { try await body() }
        let isOver = state.withLock { state in
            state.running = task
            return state.count > patience
        }
        if isOver { task.cancel() }
        return try await task.value
    }
}
