internal import CZMQ
internal import CoreAPI
internal import Platform
internal import Synchronization

/// The thread that a set of sockets belongs to, and the executor of the actor that uses them: all that the actor does
/// is done by one at a time, so no socket is touched by two threads at once.
///
/// Between the actor's jobs the thread waits for the sockets, for descriptors, and for the time that the actor asked to
/// be called at. While it waits, another thread may act in its place (``act(_:)``), so that what is asked of the actor
/// needs no change of threads. Where tasks prefer to run on it (``DeliveryExecutor``) there are two such threads, so
/// that one is always there to wait. A job that comes when the threads have ended, as to an actor whose sockets are
/// closed, runs on a thread of its own.
///
/// The library's descriptors tell of changes only, and so does the set that the threads wait at: each change wakes one
/// of them.
final class SocketThread: SerialExecutor, Sendable {
    /// What the actor gives the thread: on what to wait, and what to do then. Only whoever acts for the actor touches
    /// it.
    final class Duty {
        /// The sockets whose descriptors are watched.
        var sockets: [Socket] = []
        /// Called before each wait, to take what is there.
        var turn: () -> Void = {}
        /// Tells when to be called at the latest.
        var deadline: () -> BootInstant? = { nil }
        var isOver = false

        /// Whether the library has something to read.
        ///
        /// A descriptor tells only that something has changed since the library was last asked, which is also done by
        /// sending. So a socket is asked before each wait, unless that was done in vain since; `zmq_poll` would ask
        /// each four times.
        func hasInput() -> Bool {
            var hasInput = false
            for socket in sockets where socket.isWanted && socket.hasInput() { hasInput = true }
            return hasInput
        }
    }

    private let name: String
    private let counter: EventCounter
    private let timer: IntervalTimer
    private let readiness: ReadinessSet
    /// The actor's descriptors: a set of their own within the other, so that the thread that acts for the actor can ask
    /// for their news alone, and takes none that is to wake another thread.
    private let sources: ReadinessSet
    private let clock = SystemClock()
    private let state = Mutex(SocketThreadState())
    /// Who acts for the actor.
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

    /// Waits for a descriptor as well: for the actor, each time that it becomes readable.
    func watch(_ descriptor: Int32) throws(SystemCallError) {
        try sources.addEdges(of: descriptor, key: UInt64(descriptor))
    }

    /// Waits for a descriptor no longer.
    func forget(_ descriptor: Int32) {
        sources.remove(descriptor)
    }

    /// Learns what descriptors have told meanwhile: for the actor, in a job that may take long.
    func hear() {
        checkIsolated()
        if let duty = state.withLock({ $0.duty })?.duty { hear(duty) }
    }

    private func hear(_ duty: Duty) {
        while case let keys = sources.take(), !keys.isEmpty {
            for key in keys { duty.sockets.first { UInt64($0.descriptor) == key }?.signal() }
        }
    }

    // MARK: - Work

    func enqueue(_ job: consuming ExecutorJob) {
        add(.job(UnownedJob(job)))
    }

    private func add(_ work: SocketThreadState.Work) {
        waking { $0.add(work) }
    }

    /// Puts a job down for a thread to run that waits for news; see ``DeliveryExecutor``.
    func deliver(_ job: UnownedJob, to executor: DeliveryExecutor) {
        waking { $0.deliver(job, to: executor) }
    }

    /// Wakes the other thread for the jobs that are there, if it can run them: for the actor, in a turn that may take
    /// long.
    func offerDeliveries() {
        if state.withLock({ $0.hasJobsForOther }) { counter.raise() }
    }

    /// Puts something down, and wakes the thread that is to do it.
    ///
    /// Under the lock, since a job may be the last to hold its actor and with that this thread: once the lock is given
    /// back, another thread may have run the job, and nothing of this object is left.
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

    /// Takes up a duty, until it says that it is over. For the actor alone.
    func take(_ duty: Duty) {
        checkIsolated()
        let box = SocketThreadState.DutyBox(duty: duty)
        state.withLock { $0.duty = box }
    }

    /// Does something of the actor's, isolated to it: at once when the thread waits, in its place; else the thread does
    /// it later, in its turn. For what is short and does not block.
    func act(_ body: @escaping @Sendable () -> Void) {
        guard let duty = state.withLock({ $0.takePlace() })?.duty else { return add(.body(body)) }
        holder.store(ThreadIdentity.current.rawValue, ordering: .relaxed)
        body()
        // Sending may have taken in what the sockets' descriptors had told of, or would have.
        let mustWake = duty.isOver || duty.hasInput()
        let deadline = duty.isOver ? nil : duty.deadline()
        holder.store(0, ordering: .relaxed)
        let hasWork = state.withLock { state in
            setTimer(deadline, &state)
            return state.leavePlace()
        }
        if mustWake || hasWork { counter.raise() }
    }

    /// Sees to it that a thread wakes at a time.
    private func setTimer(_ deadline: BootInstant?, _ state: inout SocketThreadState) {
        guard let deadline else { return }
        let now = clock.now()
        guard state.mustSetTimer(for: deadline, at: now) else { return }
        timer.set(first: now.duration(to: deadline), interval: .zero)
    }

    // MARK: - The threads

    /// Sees to it that one thread hears while another runs a task, before any task may run there; tells whether there
    /// are two, or none because there is nothing to hear any more.
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

    /// - Returns: What the caller's thread has to do in place of one that could not be started: nothing would ever run
    ///   again otherwise. It keeps this object.
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

    /// How often work that comes of work is done before the actor has its turn.
    private static let roundLimit = 16

    /// Does all that there is to do for the actor.
    private func serve() {
        var rounds = 0
        while true {
            holder.store(ThreadIdentity.current.rawValue, ordering: .relaxed)
            let (work, changed) = state.withLock { $0.takeWork() }
            for item in work { perform(item) }
            let duty = state.withLock { $0.duty }?.duty
            for key in changed { note(key, duty) }
            rounds = (rounds + 1) % Self.roundLimit
            if rounds > 0, state.withLock({ !$0.work.isEmpty }) { continue }
            // A job may have closed the sockets that would be looked at.
            if let duty, !duty.isOver { duty.turn() }
            if leave(duty) { return }
            // Descriptors are waited for only by a thread that leaves. One may stay for long, as while one socket always
            // has something.
            if let duty { hear(duty) }
        }
    }

    private func perform(_ work: SocketThreadState.Work) {
        switch work {
        case .job(let job): job.runSynchronously(on: asUnownedSerialExecutor())
        case .body(let body): body()
        }
    }

    private func note(_ key: UInt64, _ duty: Duty?) {
        switch key {
        case SocketThreadState.counterKey: counter.clear()
        case SocketThreadState.timerKey: timer.clear()
        default: if let duty { hear(duty) }
        }
    }

    /// Leaves the actor's place when nothing is to be done.
    private func leave(_ duty: Duty?) -> Bool {
        let present = duty?.isOver == false ? duty : nil
        let hasInput = present?.hasInput() == true
        let deadline = present?.deadline()
        holder.store(0, ordering: .relaxed)
        let (isLeft, mustOffer) = state.withLock { state in
            if present == nil, state.duty?.duty === duty { state.duty = nil }
            // Who stays may do so for long.
            if hasInput || state.hasWork { return (false, state.hasJobsForOther) }
            setTimer(deadline, &state)
            _ = state.leavePlace()
            return (true, false)
        }
        if mustOffer { counter.raise() }
        return isLeft
    }
}

/// Runs tasks that prefer it on the threads of a ``SocketThread``, so that a delivery changes threads no more often than the
/// library does: whoever hears of it also resumes the task that waits for it.
///
/// It runs one job at a time, after the actor has done what there was to do; a job that does not return holds up the other
/// jobs of this executor and nobody else, because two threads wait and only one of them runs jobs.
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
