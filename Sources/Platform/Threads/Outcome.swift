internal import Synchronization

/// A value that becomes known once, and the tasks that wait for it.
package final class Outcome<Value: Sendable>: Sendable {
    private struct State {
        var value: Value?
        var waiting: [CheckedContinuation<Value, Never>] = []
    }

    private let state = Mutex(State())

    package init() {}

    /// Sets the value, once. Waits for a caller in ``whileOpen(_:)``, and lets no further one in.
    package func settle(_ find: () -> Value) {
        let (waiting, value) = state.withLock { state in
            let value = find()
            state.value = value
            defer { state.waiting = [] }
            return (state.waiting, value)
        }
        for continuation in waiting { continuation.resume(returning: value) }
    }

    /// Does something, unless it is known already.
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

    /// Waits until it is known.
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
