/// What a commit costs a backend, by which the few cases that make very many of them choose their numbers.
public enum CommitCost: Hashable, Sendable {
    /// Microseconds: memory, files that processes share.
    case low
    /// More: a database, a disk that is waited for, a network. Such a case puts many posts into one commit or makes fewer
    /// commits, and its result says so (``CaseResult/remarks``).
    case high
}
