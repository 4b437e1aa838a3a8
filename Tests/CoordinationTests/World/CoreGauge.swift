import CoreAPI
import Synchronization

/// Counts the cores that really run.
final class CoreGauge: Sendable {
    struct Run: Hashable {
        let epoch: Revision
        let process: ProcessIdentity
    }

    private struct State {
        var running: [(run: Run, process: SimulatedProcess)] = []
        var starts: [Run] = []
        var overlaps: [[Revision]] = []
    }

    private let state = Mutex(State())

    /// Every core that began to start, in order.
    var starts: [Run] { state.withLock(\.starts) }

    /// The epochs of the cores that run in living processes.
    var running: [Revision] {
        state.withLock { $0.running.filter { !$0.process.isDead }.map(\.run.epoch) }
    }

    /// The epochs that were running each time a core began while another ran.
    var overlaps: [[Revision]] { state.withLock(\.overlaps) }

    func begin(_ epoch: Revision, in process: SimulatedProcess) {
        state.withLock { state in
            let others = state.running.filter { !$0.process.isDead }.map(\.run.epoch)
            if !others.isEmpty { state.overlaps.append(others + [epoch]) }
            let run = Run(epoch: epoch, process: process.identity)
            state.running.append((run, process))
            state.starts.append(run)
        }
    }

    func end(_ epoch: Revision) {
        state.withLock { $0.running.removeAll { $0.run.epoch == epoch } }
    }
}
