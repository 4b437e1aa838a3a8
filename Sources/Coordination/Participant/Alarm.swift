internal import CoreAPI
internal import Mailboxes

/// Signals an event at an instant that moves.
struct Alarm {
    private let event: AsyncEvent
    private let clock: any TimeSource
    private let executor: any TaskExecutor
    private var instant: BootInstant?
    private var task: Task<Void, Never>?

    init(signalling event: AsyncEvent, by clock: any TimeSource, on executor: any TaskExecutor) {
        self.event = event
        self.clock = clock
        self.executor = executor
    }

    /// Makes sure that the event is signalled at `next` or before. The event may be signalled early, which costs the
    /// receiver one check.
    mutating func set(to next: BootInstant) {
        if let instant, instant <= next, instant > clock.now() { return }
        start(next)
    }

    /// Signals the event at `next`, even if it was set to an earlier time. Use it for an alarm that is postponed
    /// repeatedly, because each outdated time would wake the process for nothing.
    mutating func move(to next: BootInstant) {
        if let instant, instant == next, instant > clock.now() { return }
        start(next)
    }

    private mutating func start(_ next: BootInstant) {
        task?.cancel()
        instant = next
        task = Task(executorPreference: executor) { [event, clock] in
            do throws(CancellationError) {
                try await clock.sleep(until: next)
                event.signal()
            } catch {
                return
            }
        }
    }

    mutating func stop() {
        task?.cancel()
        task = nil
        instant = nil
    }
}
