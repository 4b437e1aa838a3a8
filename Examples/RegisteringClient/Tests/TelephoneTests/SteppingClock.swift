import CoreAPI
import Synchronization

/// A clock that goes as the machine's does, and can be put forward.
final class SteppingClock: TimeSource {
    let bootID = BootID(high: 0, low: 1)
    private let start = ContinuousClock.now
    private let skipped = Mutex(Duration.zero)

    func now() -> BootInstant {
        BootInstant(nanoseconds: 1).advanced(by: ContinuousClock.now - start + skipped.withLock { $0 })
    }

    func advance(by duration: Duration) {
        skipped.withLock { $0 += duration }
    }

    func sleep(until instant: BootInstant) async throws(CancellationError) {
        while now() < instant {
            do { try await Task.sleep(for: .milliseconds(5)) } catch { throw CancellationError() }
        }
    }
}
