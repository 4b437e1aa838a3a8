internal import CoreMetrics
internal import Synchronization

/// One figure and its value.
final class PrometheusSeries: CounterHandler, MeterHandler, RecorderHandler, TimerHandler {
    /// The kind of the figure, by the word of the format.
    enum Kind: String, Sendable {
        case counter, gauge, histogram
    }

    private struct State {
        var value = 0.0
        var count: UInt64 = 0
        /// For each bound, how many observed values were at most as large.
        var buckets = [UInt64](repeating: 0, count: PrometheusSeries.bounds.count)
    }

    /// The bounds of a histogram, in seconds: from the usual time of an Executor on an idle machine to far more than
    /// every budget.
    static let bounds = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 30, 60, 300]

    let kind: Kind
    private let state = Mutex(State())

    init(_ kind: Kind) {
        self.kind = kind
    }

    func increment(by amount: Int64) {
        state.withLock { $0.value += Double(amount) }
    }

    func increment(by amount: Double) {
        state.withLock { $0.value += amount }
    }

    func decrement(by amount: Double) {
        state.withLock { $0.value -= amount }
    }

    func reset() {
        state.withLock { $0 = State() }
    }

    func set(_ value: Int64) { set(Double(value)) }

    func set(_ value: Double) {
        state.withLock { $0.value = value }
    }

    func record(_ value: Int64) { record(Double(value)) }

    func record(_ value: Double) {
        guard kind == .histogram else { return set(value) }
        state.withLock { state in
            state.value += value
            state.count += 1
            for (index, bound) in Self.bounds.enumerated() where value <= bound { state.buckets[index] += 1 }
        }
    }

    func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1_000_000_000) }

    /// Returns the lines of this figure.
    func lines(name: String, labels: String) -> String {
        let state = state.withLock { $0 }
        let own = labels.isEmpty ? "" : "{\(labels)}"
        guard kind == .histogram else { return "\(name)\(own) \(number(state.value))\n" }
        let prefix = labels.isEmpty ? "" : labels + ","
        var text = ""
        for (bound, count) in zip(Self.bounds, state.buckets) {
            text += "\(name)_bucket{\(prefix)le=\"\(number(bound))\"} \(count)\n"
        }
        text += "\(name)_bucket{\(prefix)le=\"+Inf\"} \(state.count)\n"
        return text + "\(name)_sum\(own) \(number(state.value))\n\(name)_count\(own) \(state.count)\n"
    }

    private func number(_ value: Double) -> String {
        value == value.rounded() && abs(value) < 1e15 ? String(Int64(value)) : "\(value)"
    }
}

/// Names and values in the form that Prometheus accepts.
enum PrometheusName {
    /// Returns the name of a metric: letters, digits, `_` and `:`.
    static func metric(_ text: String) -> String { name(text, mayHave: ":") }

    /// Returns the name of a label: letters, digits and `_`.
    static func label(_ text: String) -> String { name(text, mayHave: "_") }

    /// Returns the value of a label.
    static func escaped(_ text: String) -> String {
        text.unicodeScalars.reduce(into: "") { result, scalar in
            switch scalar {
            case "\\": result += "\\\\"
            case "\"": result += "\\\""
            case "\n": result += "\\n"
            default: result.unicodeScalars.append(scalar)
            }
        }
    }

    private static func name(_ text: String, mayHave extra: Character) -> String {
        var name = String(text.map { $0.isASCII && ($0.isLetter || $0.isNumber) || $0 == extra ? $0 : "_" })
        if name.first.map({ $0.isNumber }) ?? true { name = "_" + name }
        return name
    }
}
