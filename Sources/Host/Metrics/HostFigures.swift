internal import CoreAPI
internal import CoreMetrics
internal import KeptSockets
internal import Synchronization

/// The figures of the host, through swift-metrics.
struct HostFigures: Sendable {
    private let factory: any MetricsFactory
    private let received: Counter
    private let served: Counter
    private let retried: Counter
    private let givenUp: Counter
    private let started: Counter
    private let duration: Timer
    private let running: Gauge
    private let waiting: Gauge

    init(_ factory: any MetricsFactory) {
        self.factory = factory
        received = Counter(label: "sharedcore_pushes_received_total", factory: factory)
        served = Counter(label: "sharedcore_pushes_served_total", factory: factory)
        retried = Counter(label: "sharedcore_pushes_retried_total", factory: factory)
        givenUp = Counter(label: "sharedcore_pushes_given_up_total", factory: factory)
        started = Counter(label: "sharedcore_executors_started_total", factory: factory)
        duration = Timer(label: "sharedcore_push_duration_seconds", factory: factory)
        running = Gauge(label: "sharedcore_executors_running", factory: factory)
        waiting = Gauge(label: "sharedcore_pushes_waiting", factory: factory)
    }

    func count(_ event: HostEvent) {
        switch event {
        case .taken: received.increment()
        case .started: started.increment()
        case .ended(_, _, let end):
            Counter(
                label: "sharedcore_executors_ended_total", dimensions: [("reason", end.word)], factory: factory
            ).increment()
        case .served(_, let age):
            served.increment()
            if let age { duration.recordNanoseconds(Int64(clamping: age.clampedNanoseconds)) }
        case .postponed: retried.increment()
        case .givenUp: givenUp.increment()
        }
    }

    func set(executors: Int, pushes: Int) {
        running.record(executors)
        waiting.record(pushes)
    }
}

/// The status of the keeper and of Main, through swift-metrics.
final class SupervisionFigures: Sendable {
    /// The number of starts of Main that a keeper has reported.
    private struct Told {
        var keeper: Int32 = 0
        var starts = 0
    }

    private let keeperRuns: Gauge
    private let mainRuns: Gauge
    private let starts: Counter
    private let failures: Gauge
    private let calls: Gauge
    private let kept: Gauge
    private let told = Mutex(Told())

    init(_ factory: any MetricsFactory) {
        keeperRuns = Gauge(label: "sharedcore_keeper_running", factory: factory)
        mainRuns = Gauge(label: "sharedcore_main_running", factory: factory)
        starts = Counter(label: "sharedcore_main_starts_total", factory: factory)
        failures = Gauge(label: "sharedcore_main_failures_in_a_row", factory: factory)
        calls = Gauge(label: "sharedcore_main_active_calls", factory: factory)
        kept = Gauge(label: "sharedcore_kept_sockets", factory: factory)
    }

    /// Records the state of the keeper and of its Main.
    ///
    /// - Parameter status: Nil if no keeper answers.
    func set(_ status: KeeperStatus?) {
        keeperRuns.record(status == nil ? 0 : 1)
        mainRuns.record(status?.main == nil ? 0 : 1)
        failures.record(status?.failures ?? 0)
        calls.record(status?.calls ?? 0)
        kept.record(status?.kept.count ?? 0)
        guard let status else { return }
        let count = told.withLock { told in
            // A new keeper counts from zero.
            let before = told.keeper == status.keeper ? told.starts : 0
            told = Told(keeper: status.keeper, starts: status.starts)
            return status.starts - before
        }
        if count > 0 { starts.increment(by: count) }
    }
}
