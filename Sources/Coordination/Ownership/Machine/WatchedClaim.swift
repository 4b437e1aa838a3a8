internal import CoreAPI

/// What a waiting participant knows about the life of a holder.
struct WatchedClaim: Hashable, Sendable {
    /// What the holder holds.
    let claim: Revision
    /// Where the order stood when the participant began to wait for it: a later answer is a sign of life.
    let since: Revision
    /// Not before this moment is it challenged again.
    var nextChallenge: BootInstant
    /// The last challenge that it answered.
    var lastAnswered: Revision?
    /// How long a challenge has stood unanswered.
    var patience: RunningTime?
    /// Since when it has.
    var unansweredSince: BootInstant?
    /// Whether its process was seen stopped, after the challenge had stood long enough; nil before it was looked at.
    var wasSeenStopped: Bool?
    /// How long the challenge had stood when its process was looked at last.
    var lastExamination = Duration.zero
}
