/// The times and choices by which ownership changes hands.
package struct OwnershipRules: Hashable, Sendable {
    /// How long a Main waits for an owner that it has asked. Source: contract C3.
    package var handoverDeadline = Duration.milliseconds(500)
    /// The longest that a critical section's bound can make that wait. Source: contract C3.
    package var handoverHardMaximum = Duration.seconds(5)
    /// What becomes of an Executor that has not let go by then.
    package var onDeadline = HandoverEnforcement.kill
    /// How long a core may take to stop before it is given up.
    package var stopBound = Duration.seconds(5)

    /// How long a holder may take to answer a challenge. Source: contract C6.
    package var answerBound = Duration.milliseconds(500)
    /// How long one may take that the system sees running: it is not frozen, it only does not get to run.
    package var busyAnswerBound = Duration.seconds(5)
    /// How long an answer is believed before the holder is challenged again. Each challenge and each answer wakes all
    /// that wait.
    package var answerLifetime = Duration.seconds(2)
    /// Challengers spread over this time, so that one of a hundred challenges and the others adopt its challenge.
    package var challengeSpread = Duration.milliseconds(100)
    /// How often one who waits, and an Executor that owns, looks by itself. Source: contract C4, C13.
    package var lookInterval = Duration.milliseconds(250)
    /// How often one who waits makes sure that the owner's process lives, where no event tells it. It looks at every
    /// participant, so a hundred that wait look at each other.
    package var burialInterval = Duration.seconds(5)
    /// How often an idle participant looks.
    package var idleInterval = Duration.seconds(10)
    /// How long after its kill a process may take to be gone, before it is fenced as well.
    package var killBound = Duration.milliseconds(500)
    /// How long to leave alone a store that refused a commit.
    package var retryInterval = Duration.milliseconds(50)

    package init() {}
}
