internal import Coordination
internal import CoreAPI
internal import KeptSockets
internal import Logging
internal import Platform
internal import ProgramOutput
internal import Synchronization

/// Publishes the state of the host in the group and to the service manager.
struct HostPublication: Sendable {
    private let host: PushHost
    private let process: Int32
    private let claim: HostClaim
    private let queue: PushQueue
    private let notifier: ServiceNotifier
    private let figures: HostFigures
    private let changes: ChangeSignal
    private let supervision: Supervision?
    private let beside: @Sendable () -> Void
    private let logger: Logger

    /// The supervision of Main, if there is one.
    final class Supervision: Sendable {
        private let client: KeeperClient
        private let figures: SupervisionFigures
        private let thread = SerialThread(name: "keeper-status")
        private let isAsking = Atomic(false)

        init(_ client: KeeperClient, _ figures: SupervisionFigures) {
            self.client = client
            self.figures = figures
        }

        /// Requests the keeper's state, unless a request is pending, and sets the metrics when it answers. Does not
        /// wait for the answer, because the keeper may be slow or stopped.
        func publish() {
            guard !isAsking.exchange(true, ordering: .acquiringAndReleasing) else { return }
            thread.submit { [self] in
                figures.set(client.status())
                isAsking.store(false, ordering: .releasing)
            }
        }
    }

    /// The minimum time between two publications, which only people read.
    private static let interval = Duration.milliseconds(200)
    /// The maximum time between two publications: pushes and supervision also change without an event of this host.
    private static let longestInterval = Duration.seconds(10)

    /// Makes the publication of a host that has claimed its group.
    ///
    /// - Parameter beside: Called at each publication, for other work at the same interval.
    init(
        of host: PushHost, as process: Int32, claim: HostClaim, queue: PushQueue, notifier: ServiceNotifier,
        figures: HostFigures, supervision: Supervision?, changes: ChangeSignal,
        beside: @escaping @Sendable () -> Void = {}, logger: Logger
    ) {
        self.host = host
        self.process = process
        self.claim = claim
        self.queue = queue
        self.notifier = notifier
        self.figures = figures
        self.supervision = supervision
        self.beside = beside
        self.changes = changes
        self.logger = logger
    }

    /// Publishes each change, and checks for others at an interval, until the task is cancelled.
    func run() async {
        let looking = Task {
            while !Task.isCancelled {
                changes.signal()
                try? await Task.sleep(for: Self.longestInterval)
            }
        }
        defer { looking.cancel() }
        var published: HostRecord?
        var said: String?
        var troubledSince: ContinuousClock.Instant?
        for await _ in changes.signals {
            let start = ContinuousClock.now
            var pause = Self.interval
            let record = await host.record(pid: process)
            do throws(SharedCoreError) {
                let count = try await queue.count()
                figures.set(executors: record.executors.count, pushes: count.waiting)
                let status =
                    "\(record.executors.count) of \(record.limit) Executors, \(count.waiting) pushes waiting"
                    + (count.givenUp > 0 ? ", \(count.givenUp) given up" : "") + (await host.isPaused ? ", paused" : "")
                if status != said { notifier.status(status) }
                said = status
                if record != published { try await claim.update(record) }
                published = record
                if let since = troubledSince {
                    let seconds = since.duration(to: .now).components.seconds
                    logger.notice("the group can be used again, after \(Int(seconds).counting("second"))")
                }
                troubledSince = nil
                // Counting a long queue takes long, so pause for at least twenty times as long.
                pause = max(pause, start.duration(to: .now) * 20)
            } catch {
                // Log the error here: while a hub cannot be reached, the wait for pushes does not fail. An ended
                // session is not logged, because the host ends and reports it.
                if troubledSince == nil, !Task.isCancelled, error.code != .sessionEnded, error.code != .closed {
                    logger.warning("the group cannot be used now; pushes wait until it can: \(error.sentence)")
                    troubledSince = start
                }
            }
            supervision?.publish()
            beside()
            try? await Task.sleep(for: pause)
        }
    }
}

/// Signals that something has changed. Several changes between two checks count as one signal.
struct ChangeSignal: Sendable {
    let signals: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    init() {
        (signals, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    }

    func signal() { continuation.yield() }
}
