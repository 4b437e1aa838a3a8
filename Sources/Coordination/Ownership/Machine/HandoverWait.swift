internal import CoreAPI

/// A Main's wait for an owner that it has asked.
struct HandoverWait: Hashable, Sendable {
    enum Enforcement: Hashable, Sendable {
        case notYet
        /// The group was made to notice its dead, the owner is not among them.
        case confirmed
        /// The signal was sent.
        case killed
        /// It cannot be killed, for this reason.
        case impossible(String)
    }

    /// The request.
    let handover: Revision
    /// The ownership that is waited for.
    let epoch: Revision
    var patience: RunningTime
    /// What a critical section adds to the deadline. It stays granted when the section is left early: the owner needs time
    /// to stop its core then.
    var granted = Duration.zero
    /// How long the owner has.
    var limit = Duration.zero
    var enforcement = Enforcement.notYet
    /// Since when the killed process is waited for.
    var afterKill: RunningTime?
}
