/// A case that was run, and what came of it.
public struct CaseResult: Sendable {
    public let conformanceCase: ConformanceCase
    public let outcome: CaseOutcome
    /// What the case ran with, where that is not what its title says.
    public let remarks: [String]
    /// How long it took.
    public let duration: Duration
    /// What random choices were made from; with the same seed the case makes the same ones.
    public let seed: UInt64
}
