package import CoreAPI

/// One thing that a machine wants done before it is asked again.
package enum Directive: Hashable, Sendable {
    /// Commit, then look.
    case commit(Transition)
    /// Take in a linearizable snapshot of ``OwnershipKey/path``.
    case look
    /// Make the group notice its dead, then look.
    case bury
    /// Start a core under an epoch.
    case startCore(epoch: Revision)
    /// Make the core of an epoch stop.
    case stopCore(epoch: Revision)
    /// Look whether the process of a silent holder is stopped.
    case examine(ProcessIdentity, claim: Revision)
    /// Kill the process of an owner, then look.
    case kill(ProcessIdentity, epoch: Revision)

    package var isCommit: Bool {
        if case .commit = self { true } else { false }
    }
}
