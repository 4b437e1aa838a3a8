internal import CoreAPI
internal import Synchronization

/// Calls at the earliest of the instants that it is set to.
final class ExpiryTimer: Sendable {
    private let next = Mutex<(due: BootInstant, task: Task<Void, Never>)?>(nil)

    init() {}

    /// Calls at an instant, unless an earlier one is waited for: the call then sets the next.
    func set(to instant: BootInstant, by clock: any TimeSource, _ call: @escaping @Sendable () async -> Void) {
        next.withLock { next in
            if let next, next.due <= instant { return }
            next?.task.cancel()
            next = (
                instant,
                Task { [weak self] in
                    do { try await clock.sleep(until: instant) } catch { return }
                    self?.forget(instant)
                    await call()
                }
            )
        }
    }

    private func forget(_ instant: BootInstant) {
        next.withLock { next in
            if next?.due == instant { next = nil }
        }
    }

    /// Calls no more.
    func end() {
        next.withLock { $0 }?.task.cancel()
    }
}
