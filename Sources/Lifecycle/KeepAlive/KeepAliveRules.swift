/// The times of the keep-alive.
///
/// Source: contract P4; Apple's `setKeepAliveTimeout(_:handler:)`, whose least interval is 600 s.
public struct KeepAliveRules: Hashable, Sendable {
    /// The shortest interval that is accepted.
    public static let minimumInterval = Duration.seconds(600)
    /// The longest interval that is accepted: a year.
    public static let maximumInterval = Duration.seconds(365 * 24 * 3600)

    /// How long a handler may run. What still runs then is cut off.
    public var budget: Duration
    /// When a handler that still runs is told that its time is nearly over.
    public var warning: Duration
    /// What share of its interval a handler may run early, so that it runs together with others: one in so many.
    public var slackShare: Int
    /// For how long inbound traffic proves that its registration's connection lives.
    public var proofLifetime: Duration

    public init(
        budget: Duration = .seconds(10), warning: Duration = .seconds(8), slackShare: Int = 10,
        proofLifetime: Duration = .seconds(60)
    ) {
        self.budget = budget
        self.warning = min(warning, budget)
        self.slackShare = max(1, slackShare)
        self.proofLifetime = proofLifetime
    }
}
