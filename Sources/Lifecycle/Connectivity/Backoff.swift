internal import CoreAPI

/// The waits between failed attempts; the same seed produces the same waits.
public struct Backoff: Hashable, Sendable {
    /// The shortest and the longest wait, and how the waits grow.
    public let policy: BackoffPolicy
    /// The number of failed attempts since the last ``reset()``.
    public private(set) var failures = 0
    private var random: SeededRandom

    public init(policy: BackoffPolicy = BackoffPolicy(), seed: UInt64) {
        self.policy = policy
        self.random = SeededRandom(seed: seed)
    }

    /// Records a failed attempt.
    ///
    /// - Returns: The time to wait before the next one.
    public mutating func failed() -> Duration {
        failures += 1
        let bound = policy.first.doubled(failures - 1, upTo: policy.longest)
        return bound / 2 + random.duration(below: bound / 2)
    }

    /// Records a success, or a new reason to try at once.
    public mutating func reset() {
        failures = 0
    }
}

/// The time to wait between attempts to connect.
///
/// The wait before attempt *n* is drawn evenly from the upper half of `min(longest, first × 2ⁿ⁻¹)`, so that clients
/// that lost one server do not reconnect at the same moment.
///
/// Source: RFC 5626, 4.5 (flow recovery), with shorter times: a user is waiting.
public struct BackoffPolicy: Hashable, Sendable {
    /// The upper bound of the wait after the first failure.
    public var first: Duration
    /// The upper bound of every wait.
    public var longest: Duration

    public init(first: Duration = .seconds(2), longest: Duration = .seconds(300)) {
        self.first = first
        self.longest = longest
    }
}
