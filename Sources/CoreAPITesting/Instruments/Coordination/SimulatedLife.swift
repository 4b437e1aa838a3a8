internal import Coordination
internal import CoreAPI
internal import Synchronization

/// The life of a process as a participant in it knows it: where a death is only played, this ends, and what the system
/// would take from a dead process goes with it.
final class SimulatedLife: Sendable {
    private struct State {
        var isOver = false
        var holds: [any WitnessHold] = []
    }

    private let state = Mutex(State())

    var isOver: Bool { state.withLock(\.isOver) }

    /// Takes note of a lock that ends with the process.
    func keep(_ hold: any WitnessHold) {
        state.withLock { $0.holds.append(hold) }
    }

    /// The process dies.
    func end() {
        let holds = state.withLock { state in
            state.isOver = true
            return state.holds
        }
        for hold in holds { hold.end() }
    }
}
