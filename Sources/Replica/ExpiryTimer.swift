package import CoreAPI
internal import Synchronization

/// Calls at the earliest of the instants that it is set to, so that a group's watches hear of an expiry without a read.
package final class ExpiryTimer: Sendable {
    /// Records the expiries that are due, and returns when the next entry is; nil when none expires, or the group goes
    /// on no more.
    package typealias Expiry = @Sendable () async throws(SharedCoreError) -> BootInstant?

    private struct State {
        /// The instant that is waited for, and the task that does so.
        var next: (due: BootInstant, task: Task<Void, Never>)?
        var delay = RetryDelay()
        var isEnded = false
    }

    private let state = Mutex(State())

    package init() {}

    /// Calls at an instant, unless an earlier one is waited for, and then at the one that the call returns. A call that
    /// throws, as where a server is away, is made again after a ``RetryDelay``.
    package func set(
        to instant: BootInstant, by clock: any TimeSource, on executor: (any TaskExecutor)? = nil,
        _ expire: @escaping Expiry
    ) {
        let former: Task<Void, Never>? = state.withLock { state in
            if state.isEnded { return nil }
            if let next = state.next, next.due <= instant { return nil }
            defer { state.next = (instant, sleeper(until: instant, by: clock, on: executor, expire)) }
            return state.next?.task
        }
        former?.cancel()
    }

    private func sleeper(
        until instant: BootInstant, by clock: any TimeSource, on executor: (any TaskExecutor)?,
        _ expire: @escaping Expiry
    ) -> Task<Void, Never> {
        Task(executorPreference: executor) { [weak self] in
            do { try await clock.sleep(until: instant) } catch { return }
            self?.forget(instant)
            let next: BootInstant?
            do throws(SharedCoreError) {
                next = try await expire()
                self?.state.withLock { $0.delay = RetryDelay() }
            } catch {
                next = (self?.state.withLock { $0.delay.next() }).map { clock.now().advanced(by: $0) }
            }
            if let next { self?.set(to: next, by: clock, on: executor, expire) }
        }
    }

    private func forget(_ instant: BootInstant) {
        state.withLock { state in
            if state.next?.due == instant { state.next = nil }
        }
    }

    /// Calls no more; a call that is under way ends by itself.
    package func end() {
        let task = state.withLock { state in
            state.isEnded = true
            return state.next?.task
        }
        task?.cancel()
    }
}

/// The waits between attempts at something that is away: 50 ms, then each twice the one before, 5 s at most.
package struct RetryDelay: Sendable {
    private static let longest = Duration.seconds(5)

    private var following = Duration.milliseconds(50)

    package init() {}

    /// Returns the wait after one more attempt that failed.
    package mutating func next() -> Duration {
        defer { following = min(following * 2, Self.longest) }
        return following
    }
}
