/// How long to wait between attempts to connect.
///
/// The wait before attempt *n* is drawn evenly from the upper half of `min(longest, first × 2ⁿ⁻¹)`, so that clients which
/// lost one server do not come back at one moment.
///
/// Source: RFC 5626, 4.5 (flow recovery), with shorter times: a user is waiting.
public struct BackOffRules: Hashable, Sendable {
    /// The upper bound of the wait after the first failure.
    public var first: Duration
    /// The upper bound of every wait.
    public var longest: Duration

    public init(first: Duration = .seconds(2), longest: Duration = .seconds(300)) {
        self.first = first
        self.longest = longest
    }
}
