internal import Platform
internal import Synchronization

/// Signals that a file may have arrived in a folder. It is a hint: the receiver lists the folder.
final class ArrivalSignal: Sendable {
    private struct State {
        var events: FileEvents?
        var watch: Int32?
        var failure: SystemCallError?
    }

    private let stopping: EventCounter
    private let signaling: EventCounter
    private let state = Mutex(State())

    init() throws(SystemCallError) {
        stopping = try EventCounter()
        signaling = try EventCounter()
    }

    /// The reason why the folder cannot be watched now, so that only polling helps; nil when it is watched.
    var failure: SystemCallError? { state.withLock { $0.failure } }

    /// Listens to a folder from now on, in place of an earlier one. Does nothing for the same folder.
    ///
    /// If the system has no instance or watch left, ``failure`` is set, and the next call tries again.
    func listen(to directory: Directory) throws(SystemCallError) {
        try state.withLock { state throws(SystemCallError) in
            do throws(SystemCallError) {
                let events = if let events = state.events { events } else { try FileEvents() }
                state.events = events
                let number = try events.watchArrivals(in: directory)
                if let former = state.watch, former != number { events.remove(former) }
                state.watch = number
                state.failure = nil
            } catch {
                // The folder is open, so the missing file is the path in /proc through which the watch is added.
                guard state.events == nil || error.exhausted != nil || error.isAbsent else { throw error }
                state.failure = error
            }
        }
    }

    /// Waits for an arrival, the timeout, ``signal()`` or ``stop()``. It blocks.
    func wait(timeout: Duration) {
        let events = state.withLock { $0.events }
        let descriptors = [stopping.descriptor, signaling.descriptor] + (events.map { [$0.descriptor] } ?? [])
        _ = Poll.wait(for: descriptors, timeout: timeout)
        _ = events?.take()
        signaling.clear()
    }

    /// Ends the present wait, or else the next one, for a reason other than an arrival.
    func signal() {
        signaling.raise()
    }

    /// Ends all present and later waits.
    func stop() {
        stopping.raise()
    }
}
