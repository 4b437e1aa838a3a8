internal import CoreAPI

/// Says in the group, and to the service manager, how the host is doing.
struct HostPublication: Sendable {
    private let host: PushHost
    private let process: Int32
    private let claim: HostClaim
    private let queue: PushQueue
    private let notifier: ServiceNotifier
    private let figures: HostFigures
    private let changes: ChangeBell

    /// The shortest time between two publications: people read them.
    private static let interval = Duration.milliseconds(200)

    init(
        of host: PushHost, as process: Int32, claim: HostClaim, queue: PushQueue, notifier: ServiceNotifier,
        figures: HostFigures, changes: ChangeBell
    ) {
        self.host = host
        self.process = process
        self.claim = claim
        self.queue = queue
        self.notifier = notifier
        self.figures = figures
        self.changes = changes
    }

    /// Publishes each change until the task is cancelled.
    func run() async {
        for await _ in changes.rings {
            let record = await host.record(pid: process)
            // Where this fails, the host meets the same trouble when it takes pushes, and says so.
            try? await claim.update(record)
            if let count = try? await queue.count() {
                figures.set(executors: record.executors.count, pushes: count.waiting)
                notifier.status(
                    "\(record.executors.count) of \(record.limit) Executors, \(count.waiting) pushes waiting"
                        + (count.givenUp > 0 ? ", \(count.givenUp) given up" : ""))
            }
            try? await Task.sleep(for: Self.interval)
        }
    }
}
