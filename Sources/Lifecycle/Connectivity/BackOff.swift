internal import CoreAPI

/// The waits between failed attempts; the same seed gives the same waits.
public struct BackOff: Hashable, Sendable {
    /// The times.
    public let rules: BackOffRules
    /// How many attempts have failed since the last success.
    public private(set) var failures = 0
    private var random: SeededRandom

    public init(rules: BackOffRules = BackOffRules(), seed: UInt64) {
        self.rules = rules
        self.random = SeededRandom(seed: seed)
    }

    /// Takes note of a failed attempt.
    ///
    /// - Returns: How long to wait before the next one.
    public mutating func failed() -> Duration {
        failures += 1
        var bound = rules.first
        for _ in 1..<failures where bound < rules.longest { bound *= 2 }
        bound = min(bound, rules.longest)
        return bound / 2 + random.duration(below: bound / 2)
    }

    /// Takes note of a success, or of a new reason to try at once.
    public mutating func reset() {
        failures = 0
    }
}
