/// How often something that failed is tried again, and after which pauses: each is twice the one before, up to a bound.
public struct RetryPolicy: Hashable, Sendable {
    /// The decision after a failure.
    public enum Decision: Hashable, Sendable {
        case again(after: Duration)
        case giveUp
    }

    /// How often it is tried in all.
    public let attempts: Int
    /// The first pause.
    public let pause: Duration
    /// The longest pause.
    public let longestPause: Duration

    /// - Parameters:
    ///   - attempts: How often it is tried in all; at least once.
    ///   - pause: The first pause; each is twice as long as the one before.
    ///   - longestPause: The longest pause; not shorter than the first.
    public init(attempts: Int = 5, pause: Duration = .seconds(1), longestPause: Duration = .seconds(60)) {
        self.attempts = max(1, attempts)
        self.pause = pause
        self.longestPause = max(pause, longestPause)
    }

    /// Returns the decision after so many failures.
    public func decision(after failures: Int) -> Decision {
        failures < attempts ? .again(after: pause(after: failures)) : .giveUp
    }

    /// How long to wait after so many failures.
    public func pause(after failures: Int) -> Duration {
        pause.doubled(failures - 1, upTo: longestPause)
    }
}

extension Duration {
    /// Returns the duration doubled so many times, at most `limit`. A count below one doubles nothing.
    func doubled(_ count: Int, upTo limit: Duration) -> Duration {
        var result = self
        var left = count
        while left > 0, result < limit {
            result *= 2
            left -= 1
        }
        return min(result, limit)
    }
}
