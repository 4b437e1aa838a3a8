internal import Platform
internal import Synchronization

/// Tells that something may have arrived in a folder. A hint: whoever hears it looks.
final class ArrivalBell: Sendable {
    /// Why the folder cannot be watched, so that only looking from time to time helps; nil when it can.
    let failure: SystemCallError?

    private let events: FileEvents?
    private let stopping: EventCounter
    private let watch = Mutex<Int32?>(nil)

    init() throws(SystemCallError) {
        stopping = try EventCounter()
        var events: FileEvents?
        var failure: SystemCallError?
        do throws(SystemCallError) {
            events = try FileEvents()
        } catch {
            failure = error
        }
        self.events = events
        self.failure = failure
    }

    /// Listens to a folder from now on. Again for the same one, it changes nothing; for another one, it replaces the first.
    func listen(to directory: Directory) throws(SystemCallError) {
        guard let events else { return }
        let number = try events.watchArrivals(in: directory)
        let former = watch.withLock { watch in
            defer { watch = number }
            return watch
        }
        if let former, former != number { events.remove(former) }
    }

    /// Waits for the bell, the timeout or ``stop()``. It blocks.
    func wait(timeout: Duration) {
        let descriptors = [stopping.descriptor] + (events.map { [$0.descriptor] } ?? [])
        _ = Poll.wait(for: descriptors, timeout: timeout)
        _ = events?.take()
    }

    /// Ends every wait, those to come too.
    func stop() {
        stopping.raise()
    }
}
