/// Gives the result of an operation that must end within a limit, even when the operation hangs and ignores its
/// cancellation: the test then fails instead of standing still.
///
/// - Throws: ``ConditionNotMet`` at the limit, else what the operation throws.
public func within<Value: Sendable>(
    _ limit: Duration = Patience.usual, _ expectation: String,
    _ operation: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    let result = OneResult<Value>()
    let work = Task {
        do { result.set(.success(try await operation())) } catch { result.set(.failure(error)) }
    }
    let timer = Task {
        try await ContinuousClock().sleep(for: limit)
        result.set(.failure(ConditionNotMet(expectation: expectation, limit: limit)))
    }
    defer {
        timer.cancel()
        work.cancel()
    }
    return try await withTaskCancellationHandler {
        try await result.value().get()
    } onCancel: {
        work.cancel()
    }
}
