internal import CoreAPI
internal import Platform

/// The division of work between the threads of a ``SocketThread``. Guarded by its lock.
struct SocketThreadState {
    enum Work {
        case job(UnownedJob)
        case body(@Sendable () -> Void)
    }

    /// A job of a task that prefers to run there. It holds the executor, to which it may be the last reference: a call
    /// from such a task to an actor enqueues the actor's job with the task's executor.
    struct Delivery {
        let job: UnownedJob
        let executor: DeliveryExecutor
    }

    /// Stores the poll source in the state. `@unchecked Sendable`: only the thread that acts for the actor uses its
    /// content.
    struct PollSourceBox: @unchecked Sendable {
        let pollSource: SocketThread.PollSource
    }

    /// A thread's next step.
    enum Step {
        /// Acts for the actor.
        case serve
        /// Runs jobs of tasks that prefer to run there.
        case deliver([Delivery])
        case wait
        /// The thread must end. If `mustWake`, it first wakes the other thread, so that this one ends too.
        case end(mustWake: Bool)
    }

    /// Which thread to wake.
    enum Waking {
        case none
        /// One of the waiting threads.
        case raise
        /// Start a new thread, because no thread waits.
        case start
    }

    /// The keys of the descriptors to wait for.
    static let counterKey: UInt64 = 0
    static let timerKey: UInt64 = 1
    static let sourcesKey: UInt64 = 2

    private(set) var work: [Work] = []
    /// Signalled descriptors that were not handled yet.
    private var changed: [UInt64] = []
    var pollSource: PollSourceBox?
    /// True while a thread acts for the actor.
    private var isHeld = false
    /// When the timer fires.
    private var wakeTime: BootInstant?
    private var threadCount = 0
    private var hasCompanion = false
    /// The threads that check for work before they wait.
    private var awake: [ThreadIdentity] = []
    private var deliveries: [Delivery] = []
    /// The thread that runs deliveries.
    private var runner: ThreadIdentity?

    /// True if there is work for the actor.
    var hasWork: Bool { !work.isEmpty || !changed.isEmpty }

    mutating func add(_ item: Work) -> Waking {
        work.append(item)
        // The thread that acts for the actor checks for work before it stops, so it need not be woken. A thread that
        // runs a job does not count, because the job may take long.
        return isHeld || awake.contains { $0 != runner } ? .none : waking()
    }

    mutating func deliver(_ job: UnownedJob, to executor: DeliveryExecutor) -> Waking {
        deliveries.append(Delivery(job: job, executor: executor))
        // The thread that runs a job checks for the next, and so does an awake thread that is to run it.
        return runner != nil || !awake.isEmpty ? .none : waking()
    }

    /// True if jobs wait for the thread that acts for the actor, and another thread can run them.
    var hasJobsForOther: Bool { runner == nil && hasCompanion && !deliveries.isEmpty }

    /// Returns how to get a thread: wake one, or start one, which counts from now on.
    private mutating func waking() -> Waking {
        // Without a poll source there is no second thread that could wait, so a single thread that runs a job cannot be
        // woken.
        let isBusyAlone = threadCount == 1 && runner != nil && pollSource == nil
        if threadCount > 0, !isBusyAlone { return .raise }
        threadCount += 1
        return .start
    }

    /// True if only one thread waits: there would be none while that thread runs a job. Threads that have ended are
    /// started again when needed.
    var needsCompanion: Bool { pollSource != nil && !hasCompanion }

    mutating func addCompanion() {
        hasCompanion = true
        threadCount += 1
    }

    /// Takes the actor's place for a thread other than these; nil when it must wait for its turn.
    mutating func takePlace() -> PollSourceBox? {
        guard !isHeld, !hasWork, let pollSource else { return nil }
        isHeld = true
        return pollSource
    }

    /// Leaves the actor's place; returns whether there is work.
    mutating func leavePlace() -> Bool {
        isHeld = false
        return hasWork
    }

    /// Records when a thread must wake; returns whether the timer must be set for it. A timer that is set for an
    /// earlier time stays; when it fires, the thread sets it again. A timer that is overdue and has not fired does not
    /// count: it stopped while the machine slept, and would fire too late.
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
        if pollSource == nil, !isHeld {
            threadCount -= 1
            if threadCount == 0 { hasCompanion = false }
            return .end(mustWake: threadCount > 0)
        }
        return .wait
    }
}
