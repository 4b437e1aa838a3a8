/// The answer whether the registrations survive an interval without a refresh.
///
/// Source: contract P5.
public enum BackgroundPreparation: Hashable, Sendable {
    /// All registrations survive it.
    case ready
    /// Some registrations do not survive the interval, or this could not be determined.
    case notReady([BackgroundBlocker])

    /// True if the application may sleep.
    public var isReady: Bool { self == .ready }
}

/// A reason why an application cannot sleep for an interval.
///
/// Source: contract P5.
public enum BackgroundBlocker: Hashable, Sendable, CustomStringConvertible {
    /// The registration lapses in less time than the interval. Refresh it and call again.
    case lapses(registration: String, in: Duration, interval: Duration)
    /// Even a fresh registration is valid for less time than the interval.
    case tooShort(registration: String, lifetime: Duration, interval: Duration)
    /// The registration has lapsed already.
    case lapsed(registration: String)
    /// Ownership and locks could not be released.
    case notGivenUp(String)
    /// The question could not be answered.
    case unanswered(String)

    public var description: String {
        switch self {
        case .lapses(let registration, let rest, let interval):
            "the registration “\(registration)” lapses in \(rest), before \(interval) have passed: refresh it first"
        case .tooShort(let registration, let lifetime, let interval):
            "the registration “\(registration)” is valid for \(lifetime) only and cannot survive \(interval)"
        case .lapsed(let registration): "the registration “\(registration)” has lapsed"
        case .notGivenUp(let reason): "ownership and locks could not be given up: \(reason)"
        case .unanswered(let reason): "it could not be determined: \(reason)"
        }
    }
}
