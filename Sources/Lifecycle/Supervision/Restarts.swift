package import CoreAPI

/// The restarts of a Main so far, and when the next one may be.
package struct Restarts: Hashable, Sendable {
    package var policy: RestartPolicy
    /// How many times in a row it has failed.
    package private(set) var failures = 0
    /// When it was restarted, as far as the window reaches back.
    private var times: [BootInstant] = []

    package init(policy: RestartPolicy) {
        self.policy = policy
    }

    /// It failed after it had run for a while.
    package mutating func failed(after running: Duration) {
        failures = running >= policy.steadyAfter ? 1 : failures + 1
    }

    /// When it may be restarted.
    ///
    /// - Parameters:
    ///   - end: When it ended.
    ///   - hastened: Whether somebody waits for it: data on a kept socket cuts the delay to its first step, never to
    ///     nothing, because the data may be what it fails at.
    package func time(afterEndAt end: BootInstant, hastened: Bool) -> BootInstant {
        let delay = policy.delay(afterFailures: failures)
        let time = end.advanced(by: hastened ? min(delay, policy.firstDelay) : delay)
        guard times.count >= policy.limit else { return time }
        return max(time, times[times.count - policy.limit].advanced(by: policy.window))
    }

    /// It was restarted.
    package mutating func restarted(at now: BootInstant) {
        times.removeAll { $0.advanced(by: policy.window) <= now }
        times.append(now)
    }

    /// A person has taken it in hand: what was before does not count.
    package mutating func forget() {
        failures = 0
        times = []
    }
}
