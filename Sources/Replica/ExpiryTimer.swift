package import CoreAPI
internal import Synchronization

/// Calls a function at the earliest of its set instants, so that a group's watches receive an expiry without a read.
package final class ExpiryTimer: Sendable {
    /// Records the due expiries, and returns when the next entry expires; nil if none does, or the group has ended.
    package typealias Expiry = @Sendable () async throws(SharedCoreError) -> BootInstant?

    private struct State {
        /// The next instant, and the task that waits for it.
        var next: (due: BootInstant, task: Task<Void, Never>)?
        var delay = RetryDelay()
        var isEnded = false
    }

    private let state = Mutex(State())

    package init() {}

    /// Sets the timer to an instant, unless it is set to an earlier one. After the timer has called the function, it is
    /// set to the instant that the function returned. A call that throws, for example because a server is unreachable,
    /// is repeated after a ``RetryDelay``.
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

    /// Ends the timer: no call begins any more. A running call ends by itself.
    package func end() {
        let task = state.withLock { state in
            state.isEnded = true
            return state.next?.task
        }
        task?.cancel()
    }
}

/// The pauses between repeated attempts: 50 ms at first, then each twice as long as the one before, 5 s at most.
package struct RetryDelay: Sendable {
    private static let longest = Duration.seconds(5)

    private var following = Duration.milliseconds(50)

    package init() {}

    /// Returns the wait after another failed attempt.
    package mutating func next() -> Duration {
        defer { following = min(following * 2, Self.longest) }
        return following
    }
}
