internal import CoreAPI

/// Waits until a condition holds.
///
/// The condition is checked repeatedly, with pauses that grow from 1 to 20 ms, so it must be cheap and have no effect.
///
/// - Throws: ``ConditionNotMet`` when it does not hold within `timeout`, and the errors of the condition.
public func eventually(
    _ expectation: @autoclosure () -> String, timeout: Duration = TestTimeout.usual,
    _ condition: () async throws -> Bool
) async throws {
    let clock = ContinuousClock()
    let deadline = clock.now.advanced(by: timeout)
    var pause = Duration.milliseconds(1)
    while try await !condition() {
        guard clock.now < deadline else { throw ConditionNotMet(expectation: expectation(), timeout: timeout) }
        try await clock.sleep(for: pause)
        pause = min(pause * 2, .milliseconds(20))
    }
}

/// Returns the result of an operation that must end within a timeout, even when the operation hangs and ignores its
/// cancellation: the test then fails instead of hanging.
///
/// - Throws: ``ConditionNotMet`` at the timeout, else the errors of the operation.
public func withTimeout<Value: Sendable>(
    _ timeout: Duration = TestTimeout.usual, _ expectation: String,
    _ operation: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    let result = Promise<Result<Value, any Error>>()
    let work = Task {
        do {
            let value = try await operation()
            result.fulfil(.success(value))
        } catch {
            result.fulfil(.failure(error))
        }
    }
    let timer = Task {
        try await ContinuousClock().sleep(for: timeout)
        result.fulfil(.failure(ConditionNotMet(expectation: expectation, timeout: timeout)))
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

/// A test waited for something that did not come.
public struct ConditionNotMet: Error, CustomStringConvertible {
    /// The condition that was waited for.
    public let expectation: String
    /// For how long.
    public let timeout: Duration

    public init(expectation: String, timeout: Duration) {
        self.expectation = expectation
        self.timeout = timeout
    }

    public var description: String { "This did not happen within \(timeout): \(expectation)" }
}

/// The time limits of waits in a case: long enough for a slow and busy machine, since only a failing case reaches them.
public enum TestTimeout {
    /// The usual limit of this task and its children. A test that expects failures lowers it.
    @TaskLocal public static var usual: Duration = .seconds(120)
    /// The limit for something that does a lot of work.
    public static let long: Duration = .seconds(240)
}
