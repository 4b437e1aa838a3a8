public import CoreAPI
public import Platform

/// How ownership and messages are handled. All participants of a group should use the same.
public struct CoordinationOptions: Hashable, Sendable {
    /// How long a Main waits for an owner that it has asked to hand over (contract C3).
    public var handoverTimeout: Duration
    /// The longest that a critical section can make that wait (contract C3).
    public var handoverMaximumTimeout: Duration
    /// What becomes of an Executor in another process that still owns then.
    public var onHandoverTimeout: HandoverTimeoutAction
    /// How long an Executor's core may run (contract C9, P11).
    public var executorBudget: Duration
    /// How long an Executor's core goes on when all calls have been served, so that the next push of a burst finds it
    /// running instead of starting another.
    public var coreLinger: Duration
    /// How long a message, and after its acknowledgement its call-id, is kept (contract C10).
    public var inboxLifetime: Duration
    /// How long an ended call is kept (contract C23).
    public var callsLifetime: Duration
    /// How long a core may take to stop before it is given up and ownership is released without it.
    public var stopTimeout: Duration
    /// How many entries the timeline keeps (contract C15).
    public var timelineCapacity: Int
    /// The kinds of batons that this participant's core takes: at most 4 (contract C25).
    public var takesBatons: [String] = []
    /// How long a baton is kept that no owner has applied: 1 second to 1 minute (contract C25).
    public var batonLifetime: Duration = Baton.defaultLifetime
    /// How long a holder may take to answer a challenge. The contract names the time (C6); only tests change it.
    package var answerBound = Duration.milliseconds(500)
    /// How often a waiting participant polls. The contract names the time (C13); only tests change it.
    package var lookInterval = Duration.milliseconds(250)

    public init(
        handoverTimeout: Duration = .milliseconds(500), handoverMaximumTimeout: Duration = .seconds(5),
        onHandoverTimeout: HandoverTimeoutAction = .kill, executorBudget: Duration = .seconds(30),
        coreLinger: Duration = .milliseconds(250), inboxLifetime: Duration = Inbox.defaultLifetime,
        callsLifetime: Duration = Calls.defaultLifetime, stopTimeout: Duration = .seconds(5),
        timelineCapacity: Int = Timeline.defaultCapacity
    ) {
        self.handoverTimeout = handoverTimeout
        self.handoverMaximumTimeout = handoverMaximumTimeout
        self.onHandoverTimeout = onHandoverTimeout
        self.executorBudget = executorBudget
        self.coreLinger = coreLinger
        self.inboxLifetime = inboxLifetime
        self.callsLifetime = callsLifetime
        self.stopTimeout = stopTimeout
        self.timelineCapacity = timelineCapacity
    }

    var rules: OwnershipRules {
        var rules = OwnershipRules()
        rules.handoverTimeout = handoverTimeout
        rules.handoverMaximumTimeout = handoverMaximumTimeout
        rules.onHandoverTimeout = onHandoverTimeout
        rules.stopTimeout = stopTimeout
        rules.takesBatons = Array(takesBatons.filter(Baton.isKind).prefix(Baton.maximumKindCount))
        rules.answerBound = answerBound
        rules.lookInterval = lookInterval
        return rules
    }
}

/// What a Main does when an Executor in another process still owns at the deadline of a hand-over.
///
/// Source: contract C3.
public enum HandoverTimeoutAction: String, Hashable, Sendable, CaseIterable {
    /// Its process is killed, where that can be done; otherwise it is fenced.
    case kill
    /// It is fenced: none of its writes takes effect any more, but its core may run on until it notices.
    case fence
}

/// What a participant has of the machine around it: parameters, so that tests decide.
///
/// Source: contract C16.
public struct CoordinationEnvironment: Sendable {
    /// The clock of all deadlines.
    public var clock: any TimeSource
    /// How an Executor that does not let go is killed.
    public var processes: any ProcessControl
    /// The witness that no two cores run at once; nil for none (contract C15).
    public var witness: (any Witness)?
    /// What chance comes from.
    public var seed: UInt64
    /// The push that this process was started for, for the cores of an Executor; nil for none (contract P13).
    public var push: Push?
    /// Where a participant and its cores run; nil for the participants' thread and the concurrent pool. Only the kit for
    /// tests of applications sets it, to know when nothing runs any more.
    package var executor: (any SerialExecutor & TaskExecutor)?

    public init(
        clock: any TimeSource = SystemClock(), processes: any ProcessControl = LocalProcessControl(),
        witness: (any Witness)? = nil, seed: UInt64 = .random(in: .min ... .max), push: Push? = .ofProcess
    ) {
        self.clock = clock
        self.processes = processes
        self.witness = witness
        self.seed = seed
        self.push = push
    }
}
