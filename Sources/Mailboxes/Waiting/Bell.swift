internal import Synchronization

/// Wakes one waiting task. A ring while nobody waits is kept, so that none is lost; several are one.
package final class Bell: Sendable {
    private enum State {
        case silent
        case rung
        case waiting(CheckedContinuation<Void, Never>)
    }

    private let state = Mutex(State.silent)

    package init() {}

    /// Wakes the one who waits, or the next one that will.
    package func ring() {
        let waiting: CheckedContinuation<Void, Never>? = state.withLock { state in
            if case .waiting(let continuation) = state {
                state = .silent
                return continuation
            }
            state = .rung
            return nil
        }
        waiting?.resume()
    }

    /// Returns after the next ring, at once if there was one since the last wait, or when the task is cancelled.
    package func wait() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isRung = state.withLock { state in
                    if case .rung = state {
                        state = .silent
                        return true
                    }
                    state = .waiting(continuation)
                    return false
                }
                if isRung { continuation.resume() }
            }
        } onCancel: {
            ring()
        }
    }
}
