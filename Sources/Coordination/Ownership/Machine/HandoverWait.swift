package import CoreAPI

/// A Main's wait for an owner that it has asked.
package struct HandoverWait: Hashable, Sendable {
    package enum Enforcement: Hashable, Sendable {
        case notYet
        /// The group was made to notice its dead, the owner is not among them.
        case confirmed
        /// The signal was sent.
        case killed
        /// It cannot be killed, for this reason.
        case impossible(String)
    }

    /// The request.
    package let handover: Revision
    /// The ownership that is waited for.
    package let epoch: Revision
    package var patience: RunningTime
    /// How long the owner has.
    package var limit = Duration.zero
    /// How long it has where it says that its core stops, and answers challenges; nil where it has not said so.
    package var stopLimit: Duration?
    /// What the owner did not do in its time, for the timeline.
    package var failure = ""
    package var enforcement = Enforcement.notYet
    /// Since when the killed process is waited for.
    package var afterKill: RunningTime?
}
