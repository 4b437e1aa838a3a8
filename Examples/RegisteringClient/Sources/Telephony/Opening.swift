internal import Synchronization

/// A wait for a connection, which ends once: with it, with an error, or with the task that waits.
final class Opening: Sendable {
    private struct State {
        var continuation: CheckedContinuation<Connection, any Error>?
        var hasEnded = false
    }

    private let state = Mutex(State())

    /// - Returns: True if there is something to wait for.
    func wait(_ continuation: CheckedContinuation<Connection, any Error>) -> Bool {
        let hasEnded = state.withLock { state in
            if !state.hasEnded { state.continuation = continuation }
            return state.hasEnded
        }
        if hasEnded { continuation.resume(throwing: CancellationError()) }
        return !hasEnded
    }

    /// - Returns: True if it ended by this call.
    @discardableResult
    func end(_ result: Result<Connection, any Error>) -> Bool {
        let (continuation, isFirst) = state.withLock { state in
            defer {
                state.continuation = nil
                state.hasEnded = true
            }
            return (state.continuation, !state.hasEnded)
        }
        continuation?.resume(with: result)
        return isFirst
    }
}
