internal import Synchronization

/// A value that is set once, and that any number of tasks can wait for.
package final class Promise<Value: Sendable>: Sendable {
    private struct State {
        var value: Value?
        var waiting: [CheckedContinuation<Value, Never>] = []
    }

    private let state = Mutex(State())

    package init() {}

    /// The number of tasks that wait.
    package var waiterCount: Int { state.withLock(\.waiting.count) }

    /// Sets the value, unless it is set already. Waits until a running ``whileOpen(_:)`` has returned. Later calls of
    /// ``whileOpen(_:)`` do nothing.
    ///
    /// - Returns: True if this call has set the value.
    @discardableResult
    package func fulfil(_ find: @autoclosure () -> Value) -> Bool {
        let fulfilled: (value: Value, waiting: [CheckedContinuation<Value, Never>])? = state.withLock { state in
            guard state.value == nil else { return nil }
            let value = find()
            state.value = value
            defer { state.waiting = [] }
            return (value, state.waiting)
        }
        guard let (value, waiting) = fulfilled else { return false }
        for continuation in waiting { continuation.resume(returning: value) }
        return true
    }

    /// Runs a body, unless the value is set already.
    ///
    /// - Returns: True if the body ran.
    @discardableResult
    package func whileOpen(_ body: () -> Void) -> Bool {
        state.withLock { state in
            guard state.value == nil else { return false }
            body()
            return true
        }
    }

    /// Waits until the value is set. Cancelling the task does not end the wait.
    package func value() async -> Value {
        await withCheckedContinuation { continuation in
            let value = state.withLock { state in
                if state.value == nil { state.waiting.append(continuation) }
                return state.value
            }
            if let value { continuation.resume(returning: value) }
        }
    }
}

/// A gate at which tasks wait until it is opened. It stays open.
extension Promise<Void> {
    package func open() { fulfil(()) }

    package func pass() async { await value() }
}

/// Identifies one of the pending waits of an object. A later wait has a higher number.
package struct WaitID: Hashable, Comparable, Sendable {
    private static let last = Atomic<UInt64>(0)

    private let number = last.wrappingAdd(1, ordering: .relaxed).newValue

    package init() {}

    package static func < (left: WaitID, right: WaitID) -> Bool { left.number < right.number }
}

/// Waits until the continuation is resumed or the task is cancelled.
///
/// - Parameters:
///   - cancelled: The result when the task is cancelled.
///   - enter: Adds the continuation to the pending ones, or returns the result if there is nothing to wait for.
///   - leave: Removes the continuation from the pending ones; nil if it is not among them. Both closures take the lock
///     of the object that keeps the pending continuations.
package func withCancellableContinuation<Value: Sendable>(
    cancelled: Value, enter: (CheckedContinuation<Value, Never>) -> Value?,
    leave: @Sendable () -> CheckedContinuation<Value, Never>?
) async -> Value {
    if Task.isCancelled { return cancelled }
    return await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
            if let value = enter(continuation) { return continuation.resume(returning: value) }
            // If the task was cancelled before, the handler found no continuation to resume.
            if Task.isCancelled { leave()?.resume(returning: cancelled) }
        }
    } onCancel: {
        leave()?.resume(returning: cancelled)
    }
}
