import CoreAPI
import Synchronization

/// A clock that stands until it is put forward: no budget is over because a machine is slow.
final class StandingClock: TimeSource {
    private struct State {
        var now = BootInstant(nanoseconds: 1)
        var sleepers: [Int: BootInstant] = [:]
        var lastSleeper = 0
    }

    let bootID = BootID(high: 0, low: 1)
    private let state = Mutex(State())

    func now() -> BootInstant {
        state.withLock { $0.now }
    }

    func advance(by duration: Duration) {
        state.withLock { $0.now = $0.now.advanced(by: duration) }
    }

    /// The instants that sleepers wait for.
    var wakes: [BootInstant] { state.withLock { Array($0.sleepers.values) } }

    /// Returns true if a sleeper waits for an instant at most `duration` away.
    func waits(within duration: Duration) -> Bool {
        let limit = now().advanced(by: duration)
        return wakes.contains { $0 <= limit }
    }

    func sleep(until instant: BootInstant) async throws(CancellationError) {
        let number = state.withLock { state in
            state.lastSleeper += 1
            state.sleepers[state.lastSleeper] = instant
            return state.lastSleeper
        }
        defer { state.withLock { $0.sleepers[number] = nil } }
        while now() < instant {
            do { try await Task.sleep(for: .milliseconds(5)) } catch { throw CancellationError() }
        }
    }
}
