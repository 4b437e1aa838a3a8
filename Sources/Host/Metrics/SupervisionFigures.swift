internal import CoreMetrics
internal import KeptSockets
internal import Synchronization

/// What the keeper of Main says of itself and of Main, through swift-metrics.
final class SupervisionFigures: Sendable {
    /// How many starts of Main a keeper told of.
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

    /// - Parameter status: Nil where no keeper answers.
    func set(_ status: KeeperStatus?) {
        keeperRuns.record(status == nil ? 0 : 1)
        mainRuns.record(status?.main == nil ? 0 : 1)
        failures.record(status?.failures ?? 0)
        calls.record(status?.calls ?? 0)
        kept.record(status?.kept.count ?? 0)
        guard let status else { return }
        let count = told.withLock { told in
            // Each keeper counts from its own beginning.
            let before = told.keeper == status.keeper ? told.starts : 0
            told = Told(keeper: status.keeper, starts: status.starts)
            return status.starts - before
        }
        if count > 0 { starts.increment(by: count) }
    }
}
