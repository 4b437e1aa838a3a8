internal import CoreAPI

/// The number of tries of a failing operation, and the delays between them: each is twice the one before, up to a
/// bound.
public struct RetryPolicy: Hashable, Sendable {
    /// The decision after a failure.
    public enum Decision: Hashable, Sendable {
        case again(after: Duration)
        case giveUp
    }

    /// The number of tries in all.
    public let attempts: Int
    /// The first delay.
    public let delay: Duration
    /// The longest delay.
    public let longestDelay: Duration

    /// Makes a policy. Values below the stated limits are raised to them.
    ///
    /// - Parameters:
    ///   - attempts: The number of tries in all; at least one.
    ///   - delay: The first delay; each is twice as long as the one before.
    ///   - longestDelay: The longest delay; not shorter than the first.
    public init(attempts: Int = 5, delay: Duration = .seconds(1), longestDelay: Duration = .seconds(60)) {
        self.attempts = max(1, attempts)
        self.delay = delay
        self.longestDelay = max(delay, longestDelay)
    }

    /// Returns the decision after a number of failures.
    public func decision(after failures: Int) -> Decision {
        failures < attempts ? .again(after: delay(after: failures)) : .giveUp
    }

    /// Returns the delay after a number of failures.
    public func delay(after failures: Int) -> Duration {
        delay.doubled(failures - 1, upTo: longestDelay)
    }
}
