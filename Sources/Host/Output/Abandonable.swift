internal import CoreAPI
internal import Platform

/// Runs calls that may block for ever and cannot be interrupted, such as reading a user's input.
enum Abandonable {
    /// Runs `body` on a thread. A cancelled task waits no longer than `grace` for it and leaves the thread to itself.
    ///
    /// - Throws: The errors of `body`; `CancellationError` when it was abandoned.
    static func run<Value: Sendable>(
        on thread: SerialThread, grace: Duration, _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        // The first one counts: the result, or the end of the wait.
        let result = Promise<Result<Value, any Error>>()
        thread.submit {
            let found = Result { try body() }
            result.fulfil(found)
        }
        return try await withTaskCancellationHandler {
            await result.value()
        } onCancel: {
            Task.detached {
                try? await Task.sleep(for: grace)
                result.fulfil(.failure(CancellationError()))
            }
        }.get()
    }
}
