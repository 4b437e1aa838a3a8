/// What an Executor may use.
///
/// Source: contract P11; the numbers are those of a notification extension of iOS.
public struct ExecutorLimits: Hashable, Sendable {
    /// How long it runs before it is told that its time is nearly over.
    public let warning: Duration
    /// How long it runs before it is killed.
    public let budget: Duration
    /// The most memory of its own, in bytes; nil for no limit.
    public let memory: UInt64?

    /// - Parameters:
    ///   - warning: How long it runs before it is told; at most `budget`.
    ///   - budget: How long it runs before it is killed.
    ///   - memory: The most memory of its own, in bytes; nil for no limit.
    public init(
        warning: Duration = .seconds(25), budget: Duration = .seconds(30), memory: UInt64? = 24 << 20
    ) {
        self.warning = min(warning, budget)
        self.budget = budget
        self.memory = memory
    }

    /// How long it has from being told to being killed.
    public var grace: Duration { budget - warning }
}
