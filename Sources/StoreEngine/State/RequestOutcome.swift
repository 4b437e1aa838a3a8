public import CoreAPI

/// What became of a transaction.
public enum RequestOutcome: Hashable, Sendable {
    case committed(Commit)
    case refused(GuardFailure)

    /// The commit, or the failure as the error that users see.
    public func get() throws(SharedCoreError) -> Commit {
        switch self {
        case .committed(let commit): return commit
        case .refused(let failure): throw SharedCoreError(failure)
        }
    }
}
