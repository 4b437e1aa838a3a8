internal import Lifecycle

extension ConnectivityTransition {
    /// The event, and the actions on it, in one line.
    var line: String {
        let cause =
            switch cause {
            case .event(let event): event.kind.rawValue
            case .done(let action, _): "\(action.name) is done"
            case .failed(let action, let reason): "\(action.name) failed: \(reason)"
            case .timePassed: "time"
            }
        let names = actions.map(\.action.name).joined(separator: ", ")
        return "\(number.map { "\($0)" } ?? "–") \(cause): \(from) → \(to)" + (names.isEmpty ? "" : "; \(names)")
    }
}

extension ConnectivityAction {
    /// Its name, without its associated values.
    var name: String { String("\(self)".prefix { $0 != "(" }) }
}
