package import CoreAPI

/// How a Main that failed is brought back (contract P8): the first time at once, then after a delay that doubles, and
/// no more than so many times in any window of time.
package struct RestartPolicy: Hashable, Sendable {
    /// The delay of the second restart in a row; each further one waits twice as long as the one before.
    package var firstDelay = Duration.seconds(1)
    /// The longest delay.
    package var longestDelay = Duration.seconds(60)
    /// The number of restarts that any window may hold, 1 or more. One that is too many waits until the oldest has left
    /// the window: supervision never gives up for good.
    package var limit = 10
    /// The length of the window.
    package var window = Duration.seconds(600)
    /// A Main that ran this long was well: its next failure counts as the first.
    package var steadyAfter = Duration.seconds(60)

    package init() {}

    /// Returns the delay of the restart after so many failures in a row.
    package func delay(afterFailures failures: Int) -> Duration {
        failures > 1 ? firstDelay.doubled(failures - 2, upTo: longestDelay) : .zero
    }
}

/// The restarts of a Main so far, and when the next one may be.
package struct Restarts: Hashable, Sendable {
    package var policy: RestartPolicy
    /// How many times in a row it has failed.
    package private(set) var failures = 0
    /// The times of its restarts, as far as the window reaches back.
    private var times: [BootInstant] = []

    package init(policy: RestartPolicy) {
        self.policy = policy
    }

    /// It failed after it had run for a while.
    package mutating func failed(after running: Duration) {
        failures = running >= policy.steadyAfter ? 1 : failures + 1
    }

    /// Returns the earliest time of a restart.
    ///
    /// - Parameters:
    ///   - end: The time at which it ended.
    ///   - hastened: Whether data waits for it. Data on a kept socket cuts the delay to its first step, never to
    ///     nothing, because the data may be the cause of the failure.
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

    /// A person has intervened: earlier failures do not count.
    package mutating func forget() {
        failures = 0
        times = []
    }
}
