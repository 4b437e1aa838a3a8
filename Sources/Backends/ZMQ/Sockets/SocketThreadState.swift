internal import CoreAPI
internal import Platform

/// Who does what in a ``SocketThread``. Guarded by its lock.
struct SocketThreadState {
    enum Work {
        case job(UnownedJob)
        case body(@Sendable () -> Void)
    }

    /// A job of a task that prefers to run there. It keeps the executor, which nobody else may do by then: the job of an actor
    /// that such a task calls is put down with an executor that the task may have been the last to hold.
    struct Delivery {
        let job: UnownedJob
        let executor: DeliveryExecutor
    }

    /// Lets the duty stand in the state. `@unchecked Sendable`: only who acts for the actor uses what is in it.
    struct DutyBox: @unchecked Sendable {
        let duty: SocketThread.Duty
    }

    /// What a thread does next.
    enum Step {
        /// Acts for the actor, whose place it has.
        case serve
        /// Runs what prefers to run there.
        case deliver([Delivery])
        case wait
        /// Ends; the other thread is to see that, too.
        case end(mustWake: Bool)
    }

    /// Who has to be woken.
    enum Waking {
        case none
        /// One of the threads.
        case raise
        /// There is none, or none that waits.
        case start
    }

    /// What is waited for.
    static let counterKey: UInt64 = 0
    static let timerKey: UInt64 = 1
    static let sourcesKey: UInt64 = 2

    private(set) var work: [Work] = []
    /// What has told of a change that nobody has looked at yet.
    private var changed: [UInt64] = []
    var duty: DutyBox?
    /// Whether somebody acts for the actor.
    private var isHeld = false
    /// When the timer rings.
    private var wakeTime: BootInstant?
    private var threadCount = 0
    private var hasCompanion = false
    /// The threads that look what is to be done before they wait.
    private var awake: [ThreadIdentity] = []
    private var deliveries: [Delivery] = []
    /// The thread that runs what is to be delivered.
    private var runner: ThreadIdentity?

    /// Whether something is to be done for the actor.
    var hasWork: Bool { !work.isEmpty || !changed.isEmpty }

    mutating func add(_ item: Work) -> Waking {
        work.append(item)
        // Whoever has the place looks before leaving it. A thread that runs a job may do so for long.
        return isHeld || awake.contains { $0 != runner } ? .none : waking()
    }

    mutating func deliver(_ job: UnownedJob, to executor: DeliveryExecutor) -> Waking {
        deliveries.append(Delivery(job: job, executor: executor))
        // Who runs one looks for the next, and so does who is awake and is to run it.
        return runner != nil || !awake.isEmpty ? .none : waking()
    }

    /// Whether jobs wait for whoever acts for the actor, and another thread can run them.
    var hasJobsForOther: Bool { runner == nil && hasCompanion && !deliveries.isEmpty }

    /// A thread is there, or is about to be.
    private mutating func waking() -> Waking {
        // With nothing to hear, one that runs a job is not followed by another that waits.
        let isBusyAlone = threadCount == 1 && runner != nil && duty == nil
        if threadCount > 0, !isBusyAlone { return .raise }
        threadCount += 1
        return .start
    }

    /// Whether there is one thread to hear, and it would not hear while it runs a job. Those that have ended are started by who
    /// needs them.
    var needsCompanion: Bool { duty != nil && !hasCompanion }

    mutating func addCompanion() {
        hasCompanion = true
        threadCount += 1
    }

    /// Another thread than these wants to act for the actor; nil when it has to wait for its turn.
    mutating func takePlace() -> DutyBox? {
        guard !isHeld, !hasWork, let duty else { return nil }
        isHeld = true
        return duty
    }

    /// Nobody acts for the actor any more; tells whether there is something to do.
    mutating func leavePlace() -> Bool {
        isHeld = false
        return hasWork
    }

    /// Takes down when a thread has to wake; tells whether the timer has to be set for it. One that is set for an earlier time
    /// stays, and the thread sees then. One whose time has come and that has not rung does not count: it stood still while the
    /// machine slept, and would ring late by as much.
    mutating func mustSetTimer(for deadline: BootInstant, at now: BootInstant) -> Bool {
        if let wakeTime, wakeTime > now, wakeTime <= deadline { return false }
        wakeTime = deadline
        return true
    }

    mutating func takeWork() -> (work: [Work], changed: [UInt64]) {
        defer { (work, changed) = ([], []) }
        if changed.contains(Self.timerKey) { wakeTime = nil }
        return (work, changed)
    }

    mutating func wake(_ thread: ThreadIdentity, with keys: [UInt64]) {
        if !awake.contains(thread) { awake.append(thread) }
        changed += keys
    }

    mutating func nextStep(of thread: ThreadIdentity) -> Step {
        if runner == thread { runner = nil }
        if !awake.contains(thread) { awake.append(thread) }
        if hasWork, !isHeld {
            isHeld = true
            return .serve
        }
        if runner == nil, !deliveries.isEmpty {
            runner = thread
            defer { deliveries = [] }
            return .deliver(deliveries)
        }
        awake.removeAll { $0 == thread }
        if duty == nil, !isHeld {
            threadCount -= 1
            if threadCount == 0 { hasCompanion = false }
            return .end(mustWake: threadCount > 0)
        }
        return .wait
    }
}
