internal import CZMQ
internal import CoreAPI
internal import Glibc
internal import Platform
internal import Synchronization

/// The one thread that a set of sockets belongs to, and the executor of the actor that uses them: whatever the actor
/// does, it does here, so no socket is touched from two threads.
///
/// Between the actor's jobs the thread waits for the sockets, for descriptors, and for the time that the actor asked to
/// be called at. A job that comes when the thread has ended, as to an actor whose sockets are closed, runs on a thread
/// of its own.
final class SocketThread: SerialExecutor, Sendable {
    /// What is waited for beside the actor's jobs.
    enum Source {
        case socket(Socket)
        case descriptor(Int32)
    }

    /// What the actor gives the thread: on what to wait, and what to do then. Only the thread touches it.
    final class Duty {
        var sources: [Source] = []
        /// Called before each wait, to take whatever is there; tells how long to wait at most.
        var turn: () -> Duration? = { nil }
        var isOver = false
    }

    private struct State {
        var jobs: [UnownedJob] = []
        var hasThread = false
        /// Whether the thread waits, so that it has to be woken.
        var isWaiting = false
        var duty: DutyBox?
    }

    /// Lets the duty stand in the state. `@unchecked Sendable`: only the thread uses what is in it, as ``take(_:)`` and
    /// the executor see to.
    private struct DutyBox: @unchecked Sendable {
        let duty: Duty
    }

    private let name: String
    private let counter: EventCounter
    private let state = Mutex(State())
    private let thread = Atomic<UInt>(0)

    init(name: String) throws(SystemCallError) {
        self.name = name
        counter = try EventCounter()
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let (mustStart, mustWake) = state.withLock { state in
            state.jobs.append(job)
            defer { state.hasThread = true }
            return (!state.hasThread, state.isWaiting)
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

    private func start() {
        do throws(SystemCallError) {
            try OwnedThread.start(name) { [self] in run() }
        } catch {
            // Without a thread nothing would ever run again: the caller's has to do.
            run()
        }
    }

    private func run() {
        thread.store(UInt(pthread_self()), ordering: .relaxed)
        while true {
            let (jobs, duty) = state.withLock { state in
                let jobs = state.jobs
                state.jobs = []
                if state.duty?.duty.isOver == true { state.duty = nil }
                if jobs.isEmpty, state.duty == nil { state.hasThread = false }
                return (jobs, state.duty?.duty)
            }
            for job in jobs { job.runSynchronously(on: asUnownedSerialExecutor()) }
            guard let duty else {
                if jobs.isEmpty { return }
                continue
            }
            // A job may have closed the sockets that would be looked at.
            if duty.isOver { continue }
            let pause = duty.turn()
            if duty.isOver { continue }
            let isIdle = state.withLock { state in
                state.isWaiting = state.jobs.isEmpty
                return state.isWaiting
            }
            wait(for: duty.sources, atMost: isIdle ? pause : .zero)
            if isIdle { state.withLock { $0.isWaiting = false } }
        }
    }

    /// Waits until something is there, a job comes, or the time is over. May return for nothing.
    ///
    /// The descriptor of a socket tells only that something has changed since the library was last asked, which is also
    /// done by sending. So a socket is asked first, unless that was done in vain since; `zmq_poll` would ask each four times.
    private func wait(for sources: [Source], atMost pause: Duration?) {
        var entries = [pollfd(fd: counter.descriptor, events: Int16(POLLIN), revents: 0)]
        var hasInput = false
        for source in sources {
            switch source {
            case .socket(let socket):
                if socket.hasInput() { hasInput = true }
                entries.append(pollfd(fd: socket.descriptor, events: Int16(POLLIN), revents: 0))
            case .descriptor(let descriptor):
                entries.append(pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0))
            }
        }
        // Rounded up: waking before the time would only mean to wait again.
        let milliseconds = pause.map { Int32(clamping: ($0.clampedNanoseconds &+ 999_999) / 1_000_000) } ?? -1
        // Interrupted or not: what is not ready now is looked at again at once.
        guard poll(&entries, nfds_t(entries.count), hasInput ? 0 : max(milliseconds, -1)) > 0 else { return }
        if entries[0].revents != 0 { counter.clear() }
        for (source, entry) in zip(sources, entries.dropFirst()) where entry.revents != 0 {
            if case .socket(let socket) = source { socket.signal() }
        }
    }
}
