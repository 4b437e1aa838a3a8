internal import CoreMetrics
internal import Synchronization

/// The metrics of this process: the backend for swift-metrics, and the text that Prometheus reads.
///
/// Source: https://prometheus.io/docs/instrumenting/exposition_formats/, text format 0.0.4.
final class PrometheusRegistry: MetricsFactory {
    private struct Identity: Hashable, Comparable {
        let name: String
        /// The labels in their output form and order.
        let labels: String

        static func < (left: Identity, right: Identity) -> Bool {
            (left.name, left.labels) < (right.name, right.labels)
        }
    }

    private let series = Mutex<[Identity: PrometheusSeries]>([:])

    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        find(label, dimensions, .counter)
    }

    func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        find(label, dimensions, .gauge)
    }

    func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        find(label, dimensions, aggregate ? .histogram : .gauge)
    }

    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        find(label, dimensions, .histogram)
    }

    func destroyCounter(_ handler: any CounterHandler) { forget(handler) }

    func destroyMeter(_ handler: any MeterHandler) { forget(handler) }

    func destroyRecorder(_ handler: any RecorderHandler) { forget(handler) }

    func destroyTimer(_ handler: any TimerHandler) { forget(handler) }

    /// All figures, as Prometheus reads them.
    var exposition: String {
        var text = ""
        var former: String?
        for (identity, series) in series.withLock({ $0 }).sorted(by: { $0.key < $1.key }) {
            // The series of one name are adjacent, below one line of description.
            if identity.name != former { text += "# TYPE \(identity.name) \(series.kind.rawValue)\n" }
            former = identity.name
            text += series.lines(name: identity.name, labels: identity.labels)
        }
        return text
    }

    /// Returns the series of a name and its labels. An existing series is used again and keeps its kind.
    private func find(_ label: String, _ dimensions: [(String, String)], _ kind: PrometheusSeries.Kind)
        -> PrometheusSeries
    {
        let labels = dimensions.map { "\(PrometheusName.label($0.0))=\"\(PrometheusName.escaped($0.1))\"" }
        let identity = Identity(name: PrometheusName.metric(label), labels: labels.joined(separator: ","))
        return series.withLock { series in
            if let known = series[identity] { return known }
            let new = PrometheusSeries(kind)
            series[identity] = new
            return new
        }
    }

    private func forget(_ handler: AnyObject) {
        series.withLock { series in series = series.filter { $0.value !== handler } }
    }
}
