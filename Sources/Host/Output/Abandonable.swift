internal import Platform
internal import Synchronization

/// Calls that may block for ever, such as reading what a person types, and that nobody can interrupt.
enum Abandonable {
    private struct State<Value: Sendable> {
        var continuation: CheckedContinuation<Result<Value, any Error>, Never>?
        var result: Result<Value, any Error>?
    }

    /// The meeting of a result and the one who waits for it. Whichever of result and abandonment is first stays.
    private final class Meeting<Value: Sendable>: Sendable {
        private let state = Mutex(State<Value>())

        func finish(_ result: Result<Value, any Error>) {
            let continuation = state.withLock { state in
                guard state.result == nil else { return nil as CheckedContinuation<Result<Value, any Error>, Never>? }
                state.result = result
                defer { state.continuation = nil }
                return state.continuation
            }
            continuation?.resume(returning: result)
        }

        func wait() async -> Result<Value, any Error> {
            await withCheckedContinuation { continuation in
                let result = state.withLock { state in
                    if state.result == nil { state.continuation = continuation }
                    return state.result
                }
                if let result { continuation.resume(returning: result) }
            }
        }
    }

    /// Runs `body` on a thread. A cancelled task waits no longer than `grace` for it and leaves the thread to itself.
    ///
    /// - Throws: What `body` throws; `CancellationError` when it was abandoned.
    static func run<Value: Sendable>(
        on thread: SerialThread, grace: Duration, _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        let meeting = Meeting<Value>()
        thread.submit { meeting.finish(Result { try body() }) }
        return try await withTaskCancellationHandler {
            await meeting.wait()
        } onCancel: {
            Task.detached {
                try? await Task.sleep(for: grace)
                meeting.finish(.failure(CancellationError()))
            }
        }.get()
    }
}
