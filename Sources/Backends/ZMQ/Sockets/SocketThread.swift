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
        /// Called after each wait with what is ready; tells how long to wait at most the next time.
        var turn: ([Bool]) -> Duration? = { _ in nil }
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
        var pause: Duration? = nil
        while true {
            let (jobs, duty, isIdle) = state.withLock { state in
                let jobs = state.jobs
                state.jobs = []
                if state.duty?.duty.isOver == true { state.duty = nil }
                let isIdle = jobs.isEmpty
                if isIdle, state.duty == nil { state.hasThread = false }
                state.isWaiting = isIdle
                return (jobs, state.duty?.duty, isIdle)
            }
            for job in jobs { job.runSynchronously(on: asUnownedSerialExecutor()) }
            guard let duty else {
                if isIdle { return }
                continue
            }
            // A job may have closed the sockets that would be waited for.
            if duty.isOver { continue }
            let ready = wait(for: duty.sources, atMost: isIdle ? pause : .zero)
            if isIdle { state.withLock { $0.isWaiting = false } }
            if !duty.isOver { pause = duty.turn(ready) }
        }
    }

    private func wait(for sources: [Source], atMost pause: Duration?) -> [Bool] {
        var items = [zmq_pollitem_t(socket: nil, fd: counter.descriptor, events: Int16(ZMQ_POLLIN), revents: 0)]
        for source in sources {
            switch source {
            case .socket(let socket):
                items.append(zmq_pollitem_t(socket: socket.handle, fd: -1, events: Int16(ZMQ_POLLIN), revents: 0))
            case .descriptor(let descriptor):
                items.append(zmq_pollitem_t(socket: nil, fd: descriptor, events: Int16(ZMQ_POLLIN), revents: 0))
            }
        }
        // Rounded up: waking before the time would only mean to wait again.
        let milliseconds = pause.map { Int(clamping: ($0.clampedNanoseconds &+ 999_999) / 1_000_000) } ?? -1
        // Interrupted or not: what is not ready now is looked at again at once.
        _ = zmq_poll(&items, Int32(items.count), milliseconds)
        if items[0].revents != 0 { counter.clear() }
        return items.dropFirst().map { $0.revents != 0 }
    }
}
