package import CoreAPI

/// What a waiting participant knows about the life of a holder.
package struct WatchedClaim: Hashable, Sendable {
    /// What the holder holds.
    package let claim: Revision
    /// Where the order stood when the participant began to wait for it: a later answer is a sign of life.
    package let since: Revision
    /// Not before this moment is it challenged again.
    package var nextChallenge: BootInstant
    /// The last challenge that it answered.
    package var lastAnswered: Revision?
    /// How long a challenge has stood unanswered.
    package var patience: RunningTime?
    /// How long it had when it was repeated.
    package var remindedAt: Duration?
    /// Since when it has.
    package var unansweredSince: BootInstant?
    /// Whether its process was seen stopped, after the challenge had stood long enough; nil before it was looked at.
    package var wasSeenStopped: Bool?
    /// How long the challenge had stood when its process was looked at last.
    package var lastExamination = Duration.zero
}
