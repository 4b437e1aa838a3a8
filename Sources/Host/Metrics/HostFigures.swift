internal import CoreAPI
internal import CoreMetrics

/// What the host counts, through swift-metrics.
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
