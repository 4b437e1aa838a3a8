internal import CZMQ
internal import CoreAPI
internal import Platform
internal import Synchronization

/// The thread that owns a set of sockets, and the executor of the actor that uses them: one thread at a time runs the
/// actor's work, so no two threads use a socket at once.
///
/// Between the actor's jobs the thread waits for the sockets, for descriptors, and for the actor's next deadline. While
/// it waits, another thread may run the actor's work in its place (``act(_:)``), so that a request to the actor needs
/// no change of threads. If tasks prefer to run on it (``DeliveryExecutor``) there are two such threads, so that one is
/// always free to wait. A job that is enqueued after the threads have ended, as for an actor with closed sockets, runs
/// on a thread of its own.
///
/// The library's descriptors signal changes only, and so does the set that the threads wait on: each change wakes one
/// of them.
final class SocketThread: SerialExecutor, Sendable {
    /// The actor's poll source: what to wait for, and the work after each wait. Used only by the thread that acts for
    /// the actor.
    final class PollSource {
        /// The sockets to wait for.
        var sockets: [Socket] = []
        /// Called before each wait, to take in messages.
        var turn: () -> Void = {}
        /// Returns the next deadline.
        var deadline: () -> BootInstant? = { nil }
        var isOver = false

        /// Returns whether the library has a message to read.
        ///
        /// A descriptor signals only that something has changed since the library was last queried, and sending queries
        /// it too. So each socket is queried before each wait, unless the last query found nothing to read; `zmq_poll`
        /// would query each four times.
        func hasInput() -> Bool {
            var hasInput = false
            for socket in sockets where socket.isWanted && socket.hasInput() { hasInput = true }
            return hasInput
        }
    }

    private let name: String
    private let counter: EventCounter
    /// How many jobs were taken from the queue together with the running one, and have not begun.
    private let untouched = Atomic<Int>(0)
    private let timer: IntervalTimer
    private let readiness: ReadinessSet
    /// The actor's descriptors, as a set inside the set on which the threads wait. So the thread that acts for the
    /// actor can read the events of these descriptors alone, and takes no event that must wake another thread.
    private let sources: ReadinessSet
    private let clock = SystemClock()
    private let state = Mutex(SocketThreadState())
    /// The thread that acts for the actor.
    private let holder = Atomic<UInt>(0)

    init(name: String) throws(SystemCallError) {
        self.name = name
        counter = try EventCounter()
        timer = try IntervalTimer(countsSuspension: true)
        readiness = try ReadinessSet()
        try readiness.addEdges(of: counter.descriptor, key: SocketThreadState.counterKey)
        try readiness.addEdges(of: timer.descriptor, key: SocketThreadState.timerKey)
        sources = try ReadinessSet()
        try readiness.addEdges(of: sources.descriptor, key: SocketThreadState.sourcesKey)
    }

    /// Also waits for a descriptor, each time that it becomes readable. Called by the actor.
    func watch(_ descriptor: Int32) throws(SystemCallError) {
        try sources.addEdges(of: descriptor, key: UInt64(descriptor))
    }

    /// Stops waiting for a descriptor.
    func forget(_ descriptor: Int32) {
        sources.remove(descriptor)
    }

    /// Reads the events of the descriptors. Called by the actor, in a job that may take long.
    func hear() {
        checkIsolated()
        if let pollSource = state.withLock({ $0.pollSource })?.pollSource { hear(pollSource) }
    }

    private func hear(_ pollSource: PollSource) {
        while case let keys = sources.take(), !keys.isEmpty {
            for key in keys { pollSource.sockets.first { UInt64($0.descriptor) == key }?.signal() }
        }
    }

    // MARK: - Work

    /// True if jobs of the actor wait. Read by the actor, in a job that may take long.
    var hasWaitingWork: Bool { untouched.load(ordering: .relaxed) > 0 || state.withLock { !$0.work.isEmpty } }

    /// Runs the waiting jobs before the actor's job continues, on this thread: `Task.yield()` may go by way of Swift's
    /// pool.
    func yield(isolation: isolated (any Actor)? = #isolation) async {
        await withUnsafeContinuation { continuation in add(.body { continuation.resume() }) }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        add(.job(UnownedJob(job)))
    }

    private func add(_ work: SocketThreadState.Work) {
        waking { $0.add(work) }
    }

    /// Enqueues a job for a waiting thread; see ``DeliveryExecutor``.
    func deliver(_ job: UnownedJob, to executor: DeliveryExecutor) {
        waking { $0.deliver(job, to: executor) }
    }

    /// Wakes the other thread for enqueued jobs, if it can run them. Called by the actor, in a turn that may take long.
    func offerDeliveries() {
        if state.withLock({ $0.hasJobsForOther }) { counter.raise() }
    }

    /// Enqueues an item, and wakes the thread that is to process it.
    ///
    /// The thread is woken under the lock. A job may hold the last reference to its actor, and so to this object: once the
    /// lock is released, another thread may run the job, and this object may be gone.
    private func waking(_ change: (inout SocketThreadState) -> SocketThreadState.Waking) {
        let standIn = state.withLock { state -> (@Sendable () -> Void)? in
            switch change(&state) {
            case .none: return nil
            case .raise:
                counter.raise()
                return nil
            case .start: return startThread()
            }
        }
        standIn?()
    }

    func checkIsolated() {
        precondition(
            holder.load(ordering: .relaxed) == ThreadIdentity.current.rawValue, "Only the sockets' thread may do this.")
    }

    /// Sets the poll source, until it is over. Called by the actor only.
    func take(_ pollSource: PollSource) {
        checkIsolated()
        let box = SocketThreadState.PollSourceBox(pollSource: pollSource)
        state.withLock { $0.pollSource = box }
    }

    /// Runs `body` isolated to the actor: at once, in the place of the waiting thread; otherwise later, on the thread,
    /// in its turn. `body` must be short and must not block.
    func act(_ body: @escaping @Sendable () -> Void) {
        guard let pollSource = state.withLock({ $0.takePlace() })?.pollSource else { return add(.body(body)) }
        holder.store(ThreadIdentity.current.rawValue, ordering: .relaxed)
        body()
        // Sending may have consumed the changes that the sockets' descriptors have signalled.
        let mustWake = pollSource.isOver || pollSource.hasInput()
        let deadline = pollSource.isOver ? nil : pollSource.deadline()
        holder.store(0, ordering: .relaxed)
        let hasWork = state.withLock { state in
            setTimer(deadline, &state)
            return state.leavePlace()
        }
        if mustWake || hasWork { counter.raise() }
    }

    /// Makes a thread wake at a deadline.
    private func setTimer(_ deadline: BootInstant?, _ state: inout SocketThreadState) {
        guard let deadline else { return }
        let now = clock.now()
        guard state.mustSetTimer(for: deadline, at: now) else { return }
        timer.set(first: now.duration(to: deadline), interval: .zero)
    }

    // MARK: - The threads

    /// Starts a second thread before any task may run here, so that one thread waits while the other runs a task.
    /// Returns true if there are two threads, or if none is needed because there is nothing to wait for.
    func beginCompanion() -> Bool {
        state.withLock { state in
            guard state.needsCompanion else { return true }
            do throws(SystemCallError) {
                try OwnedThread.start(name) { [self] in run() }
                state.addCompanion()
                return true
            } catch {
                return false
            }
        }
    }

    /// Starts a thread that runs the jobs of this object.
    ///
    /// - Returns: The work for the caller's thread if no thread could be started: otherwise no job would ever run
    ///   again. It holds a reference to this object.
    private func startThread() -> (@Sendable () -> Void)? {
        let body: @Sendable () -> Void = { [self] in run() }
        do throws(SystemCallError) {
            try OwnedThread.start(name, body)
            return nil
        } catch {
            return body
        }
    }

    private func run() {
        let thread = ThreadIdentity.current
        while true {
            switch state.withLock({ $0.nextStep(of: thread) }) {
            case .serve: serve()
            case .deliver(let deliveries):
                for delivery in deliveries {
                    delivery.job.runSynchronously(on: delivery.executor.asUnownedTaskExecutor())
                }
            case .wait:
                guard let keys = readiness.wait() else {
                    preconditionFailure("The set that the sockets' threads wait at is theirs alone to close.")
                }
                state.withLock { $0.wake(thread, with: keys) }
            case .end(let mustWake):
                if mustWake { counter.raise() }
                return
            }
        }
    }

    /// How often follow-up work is done before the actor's turn.
    private static let roundLimit = 16

    /// Does all work for the actor.
    private func serve() {
        var rounds = 0
        while true {
            holder.store(ThreadIdentity.current.rawValue, ordering: .relaxed)
            let (work, changed) = state.withLock { $0.takeWork() }
            for (number, item) in work.enumerated() {
                untouched.store(work.count - number - 1, ordering: .relaxed)
                perform(item)
            }
            let pollSource = state.withLock { $0.pollSource }?.pollSource
            for key in changed { note(key, pollSource) }
            rounds = (rounds + 1) % Self.roundLimit
            if rounds > 0, state.withLock({ !$0.work.isEmpty }) { continue }
            // A job may have closed the sockets that the turn would read.
            if let pollSource, !pollSource.isOver { pollSource.turn() }
            if leave(pollSource) { return }
            // Read the events here, because a thread waits for descriptors only after it has left this loop, which may
            // take long while a socket always has input.
            if let pollSource { hear(pollSource) }
        }
    }

    private func perform(_ work: SocketThreadState.Work) {
        switch work {
        case .job(let job): job.runSynchronously(on: asUnownedSerialExecutor())
        case .body(let body): body()
        }
    }

    private func note(_ key: UInt64, _ pollSource: PollSource?) {
        switch key {
        case SocketThreadState.counterKey: counter.clear()
        case SocketThreadState.timerKey: timer.clear()
        default: if let pollSource { hear(pollSource) }
        }
    }

    /// Leaves the actor's place when there is no work.
    private func leave(_ pollSource: PollSource?) -> Bool {
        let present = pollSource?.isOver == false ? pollSource : nil
        let hasInput = present?.hasInput() == true
        let deadline = present?.deadline()
        holder.store(0, ordering: .relaxed)
        let (isLeft, mustOffer) = state.withLock { state in
            if present == nil, state.pollSource?.pollSource === pollSource { state.pollSource = nil }
            // This thread may stay for long, so offer the waiting jobs to the other thread.
            if hasInput || state.hasWork { return (false, state.hasJobsForOther) }
            setTimer(deadline, &state)
            _ = state.leavePlace()
            return (true, false)
        }
        if mustOffer { counter.raise() }
        return isLeft
    }
}

/// Runs tasks that prefer it on the threads of a ``SocketThread``: the thread that receives a message also resumes the
/// task that waits for it. So a delivery needs no change of threads beside those of libzmq.
///
/// It runs one job at a time, after the actor's work. A job that does not return delays only the other jobs of this
/// executor, because two threads wait and only one of them runs jobs.
///
/// Source: decision 22.
final class DeliveryExecutor: TaskExecutor {
    private let thread: SocketThread

    init(of thread: SocketThread) {
        self.thread = thread
    }

    func enqueue(_ job: consuming ExecutorJob) {
        thread.deliver(UnownedJob(job), to: self)
    }
}
