public import CoreAPI
internal import Synchronization

/// How ownership and messages are handled. All participants of a group should use the same.
public struct CoordinationOptions: Hashable, Sendable {
    /// How long a Main waits for the hand-over of an owner that it has asked (contract C3).
    public var handoverTimeout: Duration
    /// The maximum of ``handoverTimeout`` together with the bound of the owner's critical section (contract C3).
    public var handoverMaximumTimeout: Duration
    /// The treatment of an Executor in another process that still owns after the hand-over timeout.
    public var onHandoverTimeout: HandoverTimeoutAction
    /// How long an Executor's core may run (contract C9, P11).
    public var executorBudget: Duration
    /// How long an Executor's core runs on when all calls have been served, so that the next push of a burst finds it
    /// running instead of starting another.
    public var coreLinger: Duration
    /// How long a message, and after its acknowledgement its call-id, is kept (contract C10).
    public var inboxLifetime: Duration
    /// How long an ended call is kept (contract C23).
    public var callsLifetime: Duration
    /// How long a core may take to stop. After that, the participant releases the ownership although the core may still
    /// run.
    public var stopTimeout: Duration
    /// How long a woken Main has to resume from its rest. After that, the holder gives its core up and releases the
    /// ownership (contract C26).
    public var wakeBound: Duration
    /// How many entries the timeline keeps (contract C15).
    public var timelineCapacity: Int
    /// The kinds of batons that this participant's core takes: at most 4 (contract C25). The participant also takes
    /// each kind that its own cores have given, so an Executor can take its own call back without naming a kind here.
    public var takesBatons: [String] = []
    /// How long a baton is kept that no owner has applied: 1 second to 1 minute (contract C25).
    public var batonLifetime: Duration = Baton.defaultLifetime
    /// How long a holder may take to answer a challenge. The contract names the time (C6); only tests change it.
    package var answerBound = Duration.milliseconds(500)
    /// How long a participant that ends waits for a store that does not answer, once its core has stopped. After that
    /// the ownership ends with the session. Stated in Docs/Guide/Hub.md; only tests change it.
    package var releaseBound = Duration.seconds(2)
    /// How often a waiting participant polls. The contract names the time (C13); only tests change it.
    package var lookInterval = Duration.milliseconds(250)

    public init(
        handoverTimeout: Duration = .milliseconds(500), handoverMaximumTimeout: Duration = .seconds(5),
        onHandoverTimeout: HandoverTimeoutAction = .kill, executorBudget: Duration = .seconds(30),
        coreLinger: Duration = .milliseconds(250), inboxLifetime: Duration = Inbox.defaultLifetime,
        callsLifetime: Duration = Calls.defaultLifetime, stopTimeout: Duration = .seconds(5),
        wakeBound: Duration = .seconds(2), timelineCapacity: Int = Timeline.defaultCapacity
    ) {
        self.handoverTimeout = handoverTimeout
        self.handoverMaximumTimeout = handoverMaximumTimeout
        self.onHandoverTimeout = onHandoverTimeout
        self.executorBudget = executorBudget
        self.coreLinger = coreLinger
        self.inboxLifetime = inboxLifetime
        self.callsLifetime = callsLifetime
        self.stopTimeout = stopTimeout
        self.wakeBound = wakeBound
        self.timelineCapacity = timelineCapacity
    }

    var rules: OwnershipRules {
        var rules = OwnershipRules()
        rules.handoverTimeout = handoverTimeout
        rules.handoverMaximumTimeout = handoverMaximumTimeout
        rules.onHandoverTimeout = onHandoverTimeout
        rules.stopTimeout = stopTimeout
        rules.wakeBound = wakeBound
        rules.takesBatons = Array(takesBatons.filter(Baton.isKind).prefix(Baton.maximumKindCount))
        rules.answerBound = answerBound
        rules.lookInterval = lookInterval
        return rules
    }
}

/// The action of a Main when an Executor in another process still owns at the deadline of a hand-over.
///
/// Source: contract C3.
public enum HandoverTimeoutAction: String, Hashable, Sendable, CaseIterable {
    /// Kills the owner's process if possible; otherwise fences it.
    case kill
    /// Fences the owner: none of its writes takes effect any more, but its core may run until it notices.
    case fence
}

/// The interfaces of a participant to the machine: parameters, so that a test can replace them.
///
/// Source: contract C16.
public struct CoordinationEnvironment: Sendable {
    /// The clock of all deadlines.
    public var clock: any TimeSource
    /// The means to kill an Executor that does not release its ownership.
    public var processes: any ProcessControl
    /// The witness that detects two cores running at once; nil for none (contract C15).
    public var witness: (any Witness)?
    /// The seed of the random numbers.
    public var seed: UInt64
    /// The push that this process was started for, for the cores of an Executor; nil for none (contract P13).
    public var push: Push?
    /// The executor that runs the calls of a core; nil for Swift's concurrent pool, which wakes its process once a
    /// second.
    ///
    /// To avoid these wake-ups while the process sleeps, use the group's ``SharedStore/deliveryExecutor``. No call of the
    /// core may then block the thread, because it would delay the core's stop. A ``LoopCore`` does not block it. A
    /// `Task {}` that the core begins still runs on the pool.
    ///
    /// Source: contract C26.
    public var coreExecutor: (any TaskExecutor)? {
        get { executor ?? givenCoreExecutor }
        set { givenCoreExecutor = newValue }
    }
    private var givenCoreExecutor: (any TaskExecutor)?
    /// The executor of a participant and its cores; nil for the participants' thread and the concurrent pool. Only
    /// `SharedCoreTesting` sets it, to detect when no job runs any more.
    package var executor: (any SerialExecutor & TaskExecutor)?
    /// The facts and services that only the system can give.
    package var system = SystemParts()

    /// Makes an environment from given parts, without the operating system: for a process in which `Platform` is not
    /// built. Participants run on the concurrent pool, and their cores register with no witness.
    public init(
        withoutSystem clock: any TimeSource, processes: any ProcessControl,
        seed: UInt64 = .random(in: .min ... .max)
    ) {
        self.clock = clock
        self.processes = processes
        self.seed = seed
    }
}

/// The services of the operating system that a participant uses. The defaults use none, for builds without `Platform`.
package struct SystemParts: Sendable {
    /// Returns the executor of all participants of the process.
    package var participants: @Sendable () -> any SerialExecutor & TaskExecutor = { PooledExecutor.shared }
    /// The number of this process's PID namespace; 0 if it is unknown.
    package var namespace: UInt64 = 0
    /// Returns the PID namespace of a process if it is this process; else 0.
    package var ownNamespace: @Sendable (ProcessIdentity) -> UInt64 = { _ in 0 }
    /// How batons travel to other processes.
    package var batons: any BatonTransport = NoBatonTransport()
    /// Called at each fail point, where a test may stop or end the process.
    package var place: @Sendable (StaticString) -> Void = { _ in }

    package init() {}
}

/// The executor of participants that have no own thread: it runs their jobs on the concurrent pool, one at a time.
final class PooledExecutor: SerialExecutor, TaskExecutor {
    static let shared = PooledExecutor()

    private struct State {
        var jobs: [UnownedJob] = []
        var isRunning = false
    }

    private let state = Mutex(State())

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let mustStart = state.withLock { state in
            state.jobs.append(job)
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if mustStart { Task.detached { self.drain() } }
    }

    private func drain() {
        while true {
            let jobs = state.withLock { state in
                defer { state.jobs = [] }
                if state.jobs.isEmpty { state.isRunning = false }
                return state.jobs
            }
            if jobs.isEmpty { return }
            for job in jobs {
                job.runSynchronously(
                    isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
            }
        }
    }
}
