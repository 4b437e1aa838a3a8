package import CoreAPI

/// The restarts of a failed Main (contract P8): the first one at once, then after a doubling delay, and limited in any
/// window of time.
package struct RestartPolicy: Hashable, Sendable {
    /// The delay of the second restart in a row; each further one waits twice as long as the one before.
    package var firstDelay = Duration.seconds(1)
    /// The longest delay.
    package var longestDelay = Duration.seconds(60)
    /// The maximum number of restarts in any window, 1 or more. A further one waits until the oldest has left the
    /// window: supervision never gives up permanently.
    package var limit = 10
    /// The length of the window.
    package var window = Duration.seconds(600)
    /// A Main that ran this long was stable: its next failure counts as the first.
    package var steadyAfter = Duration.seconds(60)

    package init() {}

    /// Returns the delay of the restart after a number of failures in a row.
    package func delay(afterFailures failures: Int) -> Duration {
        failures > 1 ? firstDelay.doubled(failures - 2, upTo: longestDelay) : .zero
    }
}

/// The restarts of a Main so far, and the earliest time of the next one.
package struct Restarts: Hashable, Sendable {
    package var policy: RestartPolicy
    /// The number of failures in a row.
    package private(set) var failures = 0
    /// The times of its restarts within the window.
    private var times: [BootInstant] = []

    package init(policy: RestartPolicy) {
        self.policy = policy
    }

    /// Records a failure after a running time.
    package mutating func failed(after running: Duration) {
        failures = running >= policy.steadyAfter ? 1 : failures + 1
    }

    /// Returns the earliest time of a restart.
    ///
    /// - Parameters:
    ///   - end: The time of its end.
    ///   - hastened: True if data waits for Main on a kept socket. This reduces the delay to ``firstDelay``, but never
    ///     to zero, because the data may be the cause of the failure.
    package func time(afterEndAt end: BootInstant, hastened: Bool) -> BootInstant {
        let delay = policy.delay(afterFailures: failures)
        let time = end.advanced(by: hastened ? min(delay, policy.firstDelay) : delay)
        guard times.count >= policy.limit else { return time }
        return max(time, times[times.count - policy.limit].advanced(by: policy.window))
    }

    /// Records a restart.
    package mutating func restarted(at now: BootInstant) {
        times.removeAll { $0.advanced(by: policy.window) <= now }
        times.append(now)
    }

    /// Forgets earlier failures, after a user has stopped or started Main.
    package mutating func forget() {
        failures = 0
        times = []
    }
}
