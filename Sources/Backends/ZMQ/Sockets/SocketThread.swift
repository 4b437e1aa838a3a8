internal import CZMQ
internal import CoreAPI
internal import Glibc
internal import Platform
internal import Synchronization

/// The one thread that a set of sockets belongs to, and the executor of the actor that uses them: whatever the actor
/// does, it does here, so no socket is touched by two threads at once.
///
/// Between the actor's jobs the thread waits for the sockets, for descriptors, and for the time that the actor asked to
/// be called at. While it waits, another thread may act in its place (``act(_:)``), so that what is asked of the actor
/// needs no change of threads. A job that comes when the thread has ended, as to an actor whose sockets are closed, runs
/// on a thread of its own.
final class SocketThread: SerialExecutor, Sendable {
    /// What is waited for beside the actor's jobs.
    enum Source {
        case socket(Socket)
        case descriptor(Int32)
    }

    /// What the actor gives the thread: on what to wait, and what to do then. Only whoever acts for the actor touches it.
    final class Duty {
        var sources: [Source] = []
        /// Called before each wait, to take whatever is there.
        var turn: () -> Void = {}
        /// Tells how long to wait at most.
        var pause: () -> Duration? = { nil }
        var isOver = false

        /// Whether the library has something to read.
        func hasInput() -> Bool {
            var hasInput = false
            for case .socket(let socket) in sources where socket.hasInput() { hasInput = true }
            return hasInput
        }
    }

    private enum Work {
        case job(UnownedJob)
        case body(@Sendable () -> Void)
    }

    private struct State {
        var work: [Work] = []
        var hasThread = false
        /// Whether the thread waits, so that it has to be woken, and others may act in its place.
        var isWaiting = false
        /// When it wakes by itself.
        var wakeTime: BootInstant?
        /// Whether another thread acts in its place.
        var isReplaced = false
        /// Whether it wants its place back.
        var isWanted = false
        var duty: DutyBox?
    }

    /// Lets the duty stand in the state. `@unchecked Sendable`: only the thread, and whoever acts in its place, uses what is
    /// in it, as ``take(_:)``, ``act(_:)`` and the executor see to.
    private struct DutyBox: @unchecked Sendable {
        let duty: Duty
    }

    private let name: String
    private let counter: EventCounter
    private let clock = SystemClock()
    private let state = Mutex(State())
    /// Who acts for the actor.
    private let thread = Atomic<UInt>(0)

    init(name: String) throws(SystemCallError) {
        self.name = name
        counter = try EventCounter()
    }

    func enqueue(_ job: consuming ExecutorJob) {
        add(.job(UnownedJob(job)))
    }

    private func add(_ work: Work) {
        let (mustStart, mustWake) = state.withLock { state in
            state.work.append(work)
            defer { state.hasThread = true }
            // Whoever acts in the thread's place looks for work when it has done so.
            return (!state.hasThread, state.isWaiting && !state.isReplaced)
        }
        if mustStart { start() } else if mustWake { counter.raise() }
    }

    func checkIsolated() {
        precondition(thread.load(ordering: .relaxed) == UInt(pthread_self()), "Only the sockets' thread may do this.")
    }

    /// Takes up a duty, until it says that it is over. For the actor alone.
    func take(_ duty: Duty) {
        checkIsolated()
        let box = DutyBox(duty: duty)
        state.withLock { $0.duty = box }
    }

    /// Does something of the actor's, isolated to it: at once when the thread waits, in its place; else the thread does it
    /// later, in its turn. For what is short and does not block.
    func act(_ body: @escaping @Sendable () -> Void) {
        let box = state.withLock { state -> DutyBox? in
            guard state.isWaiting, !state.isReplaced, !state.isWanted, state.work.isEmpty, let box = state.duty
            else { return nil }
            state.isReplaced = true
            return box
        }
        guard let duty = box?.duty else { return add(.body(body)) }
        thread.store(UInt(pthread_self()), ordering: .relaxed)
        body()
        // Sending may have taken in what the sockets' descriptors had told of, or would have.
        var mustWake = duty.isOver || duty.hasInput()
        let pause = duty.pause()
        let time = pause.map { clock.now().advanced(by: $0) }
        thread.store(0, ordering: .relaxed)
        state.withLock { state in
            if state.isWanted || !state.work.isEmpty { mustWake = true }
            if let time, state.wakeTime.map({ time < $0 }) ?? true { mustWake = true }
            state.isReplaced = false
        }
        if mustWake { counter.raise() }
    }

    private func start() {
        do throws(SystemCallError) {
            try OwnedThread.start(name) { [self] in run() }
        } catch {
            // Without a thread nothing would ever run again: the caller's has to do.
            run()
        }
    }

    /// How often work that comes of work is done before the sockets' descriptors are looked at again.
    private static let roundLimit = 16

    private var hasWork: Bool { state.withLock { !$0.work.isEmpty } }

    private func run() {
        var rounds = 0
        while true {
            thread.store(UInt(pthread_self()), ordering: .relaxed)
            let (work, duty) = state.withLock { state in
                let work = state.work
                state.work = []
                if state.duty?.duty.isOver == true { state.duty = nil }
                if work.isEmpty, state.duty == nil { state.hasThread = false }
                return (work, state.duty?.duty)
            }
            for item in work { perform(item) }
            guard let duty else {
                if work.isEmpty { return }
                continue
            }
            // A job may have closed the sockets that would be looked at.
            if duty.isOver { continue }
            rounds += 1
            if rounds < Self.roundLimit, hasWork { continue }
            duty.turn()
            if duty.isOver { continue }
            if rounds < Self.roundLimit, hasWork { continue }
            wait(for: duty)
            rounds = 0
        }
    }

    private func perform(_ work: Work) {
        switch work {
        case .job(let job): job.runSynchronously(on: asUnownedSerialExecutor())
        case .body(let body): body()
        }
    }

    /// Waits until something is there, work comes, or the time is over. May return for nothing.
    ///
    /// The descriptor of a socket tells only that something has changed since the library was last asked, which is also
    /// done by sending. So a socket is asked first, unless that was done in vain since; `zmq_poll` would ask each four times.
    private func wait(for duty: Duty) {
        let sources = duty.sources
        let hasInput = duty.hasInput()
        let pause = hasInput ? .zero : duty.pause()
        var entries = [pollfd(fd: counter.descriptor, events: Int16(POLLIN), revents: 0)]
        for source in sources {
            switch source {
            case .socket(let socket):
                entries.append(pollfd(fd: socket.descriptor, events: Int16(POLLIN), revents: 0))
            case .descriptor(let descriptor):
                entries.append(pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0))
            }
        }
        // From here to the end of the wait others may act, so nothing of the actor's is touched.
        let isIdle = state.withLock { state in
            state.isWaiting = state.work.isEmpty && !hasInput
            state.wakeTime = pause.map { clock.now().advanced(by: $0) }
            return state.isWaiting
        }
        // Rounded up: waking before the time would only mean to wait again.
        let milliseconds = pause.map { Int32(clamping: ($0.clampedNanoseconds &+ 999_999) / 1_000_000) } ?? -1
        // Interrupted or not: what is not ready now is looked at again at once.
        let count = poll(&entries, nfds_t(entries.count), isIdle ? max(milliseconds, -1) : 0)
        if isIdle { comeBack() }
        guard count > 0 else { return }
        if entries[0].revents != 0 { counter.clear() }
        for (source, entry) in zip(sources, entries.dropFirst()) where entry.revents != 0 {
            if case .socket(let socket) = source { socket.signal() }
        }
    }

    /// Takes its place again, when whoever acts in it has done so.
    private func comeBack() {
        while true {
            let isReplaced = state.withLock { state in
                state.isWaiting = state.isReplaced
                state.isWanted = state.isReplaced
                return state.isReplaced
            }
            if !isReplaced { return }
            _ = Poll.wait(for: [counter.descriptor], timeout: nil)
            counter.clear()
        }
    }
}
