/// How often something that failed is tried again, and after which pauses: each is twice the one before, up to a bound.
public struct RetryPolicy: Hashable, Sendable {
    /// What to do after a failure.
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

    /// - Parameter attempts: How often it is tried in all; at least once.
    public init(attempts: Int = 5, pause: Duration = .seconds(1), longestPause: Duration = .seconds(60)) {
        self.attempts = max(1, attempts)
        self.pause = pause
        self.longestPause = max(pause, longestPause)
    }

    /// What to do after so many failures.
    public func decision(after failures: Int) -> Decision {
        guard failures < attempts else { return .giveUp }
        var pause = pause
        for _ in 1..<max(1, failures) where pause < longestPause { pause *= 2 }
        return .again(after: min(pause, longestPause))
    }
}
