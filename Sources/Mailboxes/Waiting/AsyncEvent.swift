internal import Synchronization

/// An event that one task waits for.
///
/// A signal that arrives while no task waits is kept, so that none is lost. Several signals count as one.
package final class AsyncEvent: Sendable {
    private enum State {
        case clear
        case signalled
        case waiting(CheckedContinuation<Void, Never>)
    }

    private let state = Mutex(State.clear)

    package init() {}

    /// Wakes the task that waits, or the next one that will.
    package func signal() {
        let waiting: CheckedContinuation<Void, Never>? = state.withLock { state in
            if case .waiting(let continuation) = state {
                state = .clear
                return continuation
            }
            state = .signalled
            return nil
        }
        waiting?.resume()
    }

    /// Waits for the next signal. Returns at once if there was one since the last wait, and when the task is cancelled.
    package func wait() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isSignalled = state.withLock { state in
                    if case .signalled = state {
                        state = .clear
                        return true
                    }
                    state = .waiting(continuation)
                    return false
                }
                if isSignalled { continuation.resume() }
            }
        } onCancel: {
            signal()
        }
    }
}

/// A flag that is raised once and stays raised.
package final class OneWayFlag: Sendable {
    private let raised = Atomic(false)

    package init() {}

    package var isRaised: Bool { raised.load(ordering: .acquiring) }

    package func raise() {
        raised.store(true, ordering: .releasing)
    }
}
