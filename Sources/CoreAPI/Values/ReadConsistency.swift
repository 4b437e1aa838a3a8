/// What a read promises about commits of other processes.
///
/// Source: contract S4.
public enum ReadConsistency: Hashable, Sendable {
    /// Every commit that had returned anywhere before the read began is reflected.
    case linearizable
    /// Answered at once from what this client knows: never older than anything that it has already seen.
    case causal
}
