internal import Synchronization

/// A value that becomes known once, and the tasks that wait for it.
package final class Promise<Value: Sendable>: Sendable {
    private struct State {
        var value: Value?
        var waiting: [CheckedContinuation<Value, Never>] = []
    }

    private let state = Mutex(State())

    package init() {}

    /// The number of tasks that wait.
    package var waiterCount: Int { state.withLock(\.waiting.count) }

    /// Sets the value, unless it is known already. Waits for a caller in ``whileOpen(_:)``, and lets no further one in.
    ///
    /// - Returns: Whether this call has set it.
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

    /// Does something, unless the value is known already.
    ///
    /// - Returns: Whether it was done.
    @discardableResult
    package func whileOpen(_ body: () -> Void) -> Bool {
        state.withLock { state in
            guard state.value == nil else { return false }
            body()
            return true
        }
    }

    /// Waits until it is known. A cancelled task waits as well.
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

/// A gate that tasks wait at until it is opened, and that stays open.
extension Promise<Void> {
    package func open() { fulfil(()) }

    package func pass() async { await value() }
}

/// One wait among those that an owner keeps. A later wait has a higher number.
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
///   - enter: Adds the continuation to those that wait, or returns the result when there is nothing to wait for.
///   - leave: Removes the continuation from those that wait; nil when it is not among them. Both take the owner's lock.
package func withCancellableContinuation<Value: Sendable>(
    cancelled: Value, enter: (CheckedContinuation<Value, Never>) -> Value?,
    leave: @Sendable () -> CheckedContinuation<Value, Never>?
) async -> Value {
    if Task.isCancelled { return cancelled }
    return await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
            if let value = enter(continuation) { return continuation.resume(returning: value) }
            // The handler of a cancellation that came before found no continuation.
            if Task.isCancelled { leave()?.resume(returning: cancelled) }
        }
    } onCancel: {
        leave()?.resume(returning: cancelled)
    }
}
