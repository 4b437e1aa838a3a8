package import CoreAPI

/// The participant that a machine acts for.
package struct Participation: Hashable, Sendable {
    package let session: SessionID
    package let role: SessionRole
    package let name: String
    package let process: ProcessIdentity
    /// The PID namespace of the process; 0 if its process id has no meaning in other processes.
    package let processNamespace: UInt64
    /// The processes that its batons reach.
    package let reach: OwnReach

    package init(
        session: SessionID, role: SessionRole, name: String, process: ProcessIdentity, processNamespace: UInt64 = 0,
        reach: OwnReach = .machine
    ) {
        self.session = session
        self.role = role
        self.name = name
        self.process = process
        self.processNamespace = processNamespace
        self.reach = reach
    }

    package var isMain: Bool { role == .main }
}

/// The times and choices by which ownership changes hands.
package struct OwnershipRules: Hashable, Sendable {
    /// How long a Main waits for the hand-over of an owner that it has asked. Source: contract C3.
    package var handoverTimeout = Duration.milliseconds(500)
    /// The maximum of that wait together with the bound of the owner's critical section. Source: contract C3.
    package var handoverMaximumTimeout = Duration.seconds(5)
    /// The treatment of an Executor that has not released the ownership at the end of that wait.
    package var onHandoverTimeout = HandoverTimeoutAction.kill
    /// How long a core may take to stop before it is given up.
    package var stopTimeout = Duration.seconds(5)
    /// The kinds of batons that this participant's core takes.
    package var takesBatons: [String] = []

    /// How long a holder may take to answer a challenge. Source: contract C6.
    package var answerBound = Duration.milliseconds(500)
    /// The time to answer for a holder with a process that is not stopped according to the system: it is only short of
    /// CPU time.
    package var busyAnswerBound = Duration.seconds(5)
    /// How long an answer counts before the holder is challenged again. Each challenge and each answer wakes all
    /// waiting participants.
    package var answerLifetime = Duration.seconds(2)
    /// Waiting participants delay their first challenge by a random time up to this one. So one of a hundred challenges
    /// first, and the others wait for the answer to its challenge.
    package var challengeSpread = Duration.milliseconds(100)
    /// How long a Main that rests has to resume. Source: contract C26.
    package var wakeBound = Duration.seconds(2)
    /// How long an offer of rest lasts if no holder accepts it.
    package var offerBound = Duration.milliseconds(500)
    /// The interval at which a resting Main reads its record.
    package var restInterval = Duration.seconds(60)
    /// How often a waiting participant, and an Executor that owns, polls. Source: contract C4, C13.
    package var lookInterval = Duration.milliseconds(250)
    /// The poll interval of a participant that waits for its turn behind a Main, possibly for as long as that Main
    /// runs.
    package var turnInterval = Duration.seconds(1)
    /// The interval at which a waiting participant makes the group check that the owner's process is alive, in case no
    /// event reports its end. Each check covers all sessions of the group; the interval limits the cost when a hundred
    /// participants wait.
    package var burialInterval = Duration.seconds(5)
    /// The interval at which an idle participant reads the ownership.
    package var idleInterval = Duration.seconds(10)
    /// How long a killed process may take to end before its owner is fenced as well.
    package var killBound = Duration.milliseconds(500)
    /// The pause after a commit that the store has refused.
    package var retryInterval = Duration.milliseconds(50)

    package init() {}
}
