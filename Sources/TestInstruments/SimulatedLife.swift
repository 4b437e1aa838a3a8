internal import Synchronization

/// The life of a simulated process, shared by its participants. When its end is simulated, this ends too, together with
/// all that the system would take from an ended process.
package final class SimulatedLife: Sendable {
    private struct State {
        var isOver = false
        var endings: [@Sendable () -> Void] = []
    }

    private let state = Mutex(State())

    package init() {}

    /// True after the process has died.
    package var isOver: Bool { state.withLock(\.isOver) }

    /// Registers an action for the process's end. If the process has ended already, runs the action now.
    package func atEnd(_ ending: @escaping @Sendable () -> Void) {
        let isOver = state.withLock { state in
            if !state.isOver { state.endings.append(ending) }
            return state.isOver
        }
        if isOver { ending() }
    }

    /// Ends the life: the process dies. May be called more than once.
    package func end() {
        let endings = state.withLock { state in
            state.isOver = true
            defer { state.endings = [] }
            return state.endings
        }
        for ending in endings { ending() }
    }
}
