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
    private let toleratedCount: Int

    /// - Parameter toleratedCount: How many signals leave the work running, which reads ``signal`` to end by itself. The next
    ///   one cancels it.
    init(toleratedCount: Int = 0) throws {
        self.toleratedCount = toleratedCount
        try SignalRelay.begin([SIGINT, SIGTERM]) { [self] number, _ in
            let running = state.withLock { state in
                state.signal = state.signal ?? number
                state.count += 1
                return state.count > toleratedCount ? state.running : nil
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

    /// Runs the work in a task of its own, so that a signal cancels the work and not the printing of its result.
    func run(_ body: @escaping @Sendable () async throws -> Result) async throws -> Result {
        let task = Task { try await body() }
        let isOver = state.withLock { state in
            state.running = task
            return state.count > toleratedCount
        }
        if isOver { task.cancel() }
        do {
            return try await task.value
        } catch {
            // The work did not fail: it was ended.
            if state.withLock({ $0.count > toleratedCount }), let failure { throw failure }
            throw error
        }
    }
}
