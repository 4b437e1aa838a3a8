internal import CoreAPI
internal import Mailboxes

/// Rings a bell at an instant that moves.
struct Alarm {
    private let bell: Bell
    private let clock: any TimeSource
    private let executor: any TaskExecutor
    private var instant: BootInstant?
    private var task: Task<Void, Never>?

    init(ringing bell: Bell, by clock: any TimeSource, on executor: any TaskExecutor) {
        self.bell = bell
        self.clock = clock
        self.executor = executor
    }

    /// Makes sure that the bell rings at `next` or before. A ring that comes early costs one look and nothing else.
    mutating func set(to next: BootInstant) {
        if let instant, instant <= next, instant > clock.now() { return }
        task?.cancel()
        instant = next
        task = Task(executorPreference: executor) { [bell, clock] in
            do throws(CancellationError) {
                try await clock.sleep(until: next)
                bell.ring()
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
