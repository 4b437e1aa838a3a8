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

/// What came of running a case.
public enum CaseOutcome: Hashable, Sendable {
    /// The rule holds.
    case passed
    /// The rule is broken, or something stood in the way; the text names the check, what was found and what was expected.
    case failed(String)
    /// The backend declares that it does not make these promises, and refused at open whoever required them.
    case unsupported(String)
    /// This machine, this build or this harness cannot try it, for this reason.
    case skipped(String)
    /// The task that ran the case was cancelled before the case had ended, which says nothing about the rule.
    case interrupted

    /// The word for scripts: `passed`, `failed`, `unsupported`, `skipped` or `interrupted`.
    public var word: String {
        switch self {
        case .passed: "passed"
        case .failed: "failed"
        case .unsupported: "unsupported"
        case .skipped: "skipped"
        case .interrupted: "interrupted"
        }
    }

    /// What there is to say about it; nil for ``passed`` and ``interrupted``.
    public var message: String? {
        switch self {
        case .passed, .interrupted: nil
        case .failed(let text), .unsupported(let text), .skipped(let text): text
        }
    }
}
