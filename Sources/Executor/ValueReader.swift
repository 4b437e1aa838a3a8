internal import Coordination
internal import ExecutorRun

/// Reads the values of options.
struct ValueReader {
    let values: [String: String]

    /// A text that must be given.
    func text(_ option: String) throws(ExecutorFailure) -> String {
        guard let value = values[option] else { throw ExecutorArguments.usage("\(option) is missing") }
        return value
    }

    /// A whole number of milliseconds that must be given.
    func milliseconds(_ option: String) throws(ExecutorFailure) -> Duration {
        let text = try text(option)
        // A hundred years, so that no sum of two leaves 64 bits of nanoseconds.
        guard let count = UInt64(text), count <= 3_153_600_000_000 else {
            throw ExecutorArguments.usage("\(option) takes milliseconds, not “\(text)”")
        }
        return .milliseconds(count)
    }

    /// A whole number of milliseconds.
    func milliseconds(_ option: String, default fallback: Duration) throws(ExecutorFailure) -> Duration {
        values[option] == nil ? fallback : try milliseconds(option)
    }

    /// A number of bytes, or `none`.
    func byteCount(_ option: String, default fallback: UInt64?) throws(ExecutorFailure) -> UInt64? {
        guard let text = values[option] else { return fallback }
        if text == "none" { return nil }
        guard let count = UInt64(text) else { throw ExecutorArguments.usage("\(option) takes bytes, not “\(text)”") }
        return count
    }

    /// One of a few words; nil when it is not given.
    func choice<Value: RawRepresentable<String>>(
        _ option: String, among choices: [Value]
    ) throws(ExecutorFailure) -> Value? {
        guard let text = values[option] else { return nil }
        guard let choice = choices.first(where: { $0.rawValue == text }) else {
            let words = choices.map(\.rawValue).joined(separator: " or ")
            throw ExecutorArguments.usage("\(option) takes \(words), not “\(text)”")
        }
        return choice
    }

    /// Sets what is given of how ownership and messages are handled.
    func fill(_ options: inout CoordinationOptions) throws(ExecutorFailure) {
        options.executorBudget = try milliseconds("--budget-ms", default: options.executorBudget)
        options.inboxLifetime = try milliseconds("--inbox-lifetime-ms", default: options.inboxLifetime)
        options.handoverDeadline = try milliseconds("--handover-deadline-ms", default: options.handoverDeadline)
        options.handoverHardMaximum = try milliseconds(
            "--handover-hard-maximum-ms", default: options.handoverHardMaximum)
        options.onDeadline =
            try choice("--on-deadline", among: HandoverEnforcement.allCases) ?? options.onDeadline
    }
}
