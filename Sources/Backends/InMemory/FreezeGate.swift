internal import Synchronization

/// Where a simulated process stands still while it is stopped.
final class FreezeGate: Sendable {
    private struct State {
        var isShut = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    func shut() {
        state.withLock { $0.isShut = true }
    }

    func open() {
        let waiting = state.withLock { state in
            defer { state.waiting = [] }
            state.isShut = false
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Returns at once, or when the gate opens. A stopped process does not notice a cancellation either.
    func pass() async {
        if !state.withLock({ $0.isShut }) { return }
        await withCheckedContinuation { continuation in
            let passes = state.withLock { state in
                if state.isShut { state.waiting.append(continuation) }
                return !state.isShut
            }
            if passes { continuation.resume() }
        }
    }
}
