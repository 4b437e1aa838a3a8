internal import Synchronization

/// The life of a process as those know it who take part from it: where a death is only played, this ends, and what the
/// system would take from a dead process goes with it.
package final class SimulatedLife: Sendable {
    private struct State {
        var isOver = false
        var endings: [@Sendable () -> Void] = []
    }

    private let state = Mutex(State())

    package init() {}

    /// Whether the process has died.
    package var isOver: Bool { state.withLock(\.isOver) }

    /// Takes note of what happens with the death; of one that is over, it happens now.
    package func atEnd(_ ending: @escaping @Sendable () -> Void) {
        let isOver = state.withLock { state in
            if !state.isOver { state.endings.append(ending) }
            return state.isOver
        }
        if isOver { ending() }
    }

    /// The process dies. Idempotent.
    package func end() {
        let endings = state.withLock { state in
            state.isOver = true
            defer { state.endings = [] }
            return state.endings
        }
        for ending in endings { ending() }
    }
}
