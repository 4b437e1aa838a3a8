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

    /// Makes sure that the event is signalled at `next` or before. An early signal costs one check and nothing else.
    mutating func set(to next: BootInstant) {
        if let instant, instant <= next, instant > clock.now() { return }
        start(next)
    }

    /// Signals the event at `next`, even if it was set to an earlier time. For an alarm that is put off repeatedly: the
    /// earlier times would wake the process for nothing.
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
