import CoreAPI
import Synchronization

/// A clock that stands until it is put forward: no budget is over because a machine is slow.
final class StandingClock: TimeSource {
    let bootID = BootID(high: 0, low: 1)
    private let instant = Mutex(BootInstant(nanoseconds: 1))

    func now() -> BootInstant {
        instant.withLock { $0 }
    }

    func advance(by duration: Duration) {
        instant.withLock { $0 = $0.advanced(by: duration) }
    }

    func sleep(until instant: BootInstant) async throws(CancellationError) {
        while now() < instant {
            do { try await Task.sleep(for: .milliseconds(5)) } catch { throw CancellationError() }
        }
    }
}
