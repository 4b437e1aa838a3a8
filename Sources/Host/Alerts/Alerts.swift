internal import CoreAPI
internal import Lifecycle
internal import Logging

/// A way to tell the user something from the background. It is the only one that there is, and its form is the
/// desktop's (contract P9).
protocol Alerts: Sendable {
    /// Shows an alert. Returns when it is shown, or when it is certain that it cannot be.
    func show(_ alert: Alert) async throws(AlertFailure)
}

/// A message to a user while no application is in front of one.
struct Alert: Hashable, Sendable {
    /// One line.
    let title: String
    let text: String

    /// - Returns: The message of a call-id, as the user is told it.
    init(title: String, text: String) {
        self.title = title
        self.text = text
    }
}

/// The reason why an alert was not shown.
struct AlertFailure: Error, Hashable, Sendable {
    /// For people.
    let reason: String
}

/// Another way to alert, and the log where that cannot.
struct LoggedAlerts: Alerts {
    let first: any Alerts
    let logger: Logger

    func show(_ alert: Alert) async throws(AlertFailure) {
        do throws(AlertFailure) {
            try await first.show(alert)
        } catch {
            logger.notice("\(ValueText.oneLine(alert.title)): \(ValueText.oneLine(alert.text)) (\(error.reason))")
        }
    }
}

/// Alerts of a group: shown on the desktop, else in the log, and not at all while the application is in front of a
/// user, which shows its messages itself.
///
/// `await BackgroundAlerts(of: group, logger: logger).show(alert)` when an Executor has brought something.
struct BackgroundAlerts: Sendable {
    private let states: ApplicationStates
    private let alerts: any Alerts
    private let logger: Logger

    init(of group: any SharedStore, showing alerts: any Alerts, logger: Logger) {
        states = ApplicationStates(group)
        self.alerts = alerts
        self.logger = logger
    }

    init(of group: any SharedStore, logger: Logger) {
        self.init(
            of: group, showing: LoggedAlerts(first: DesktopAlerts(application: "SharedCore"), logger: logger),
            logger: logger)
    }

    /// Shows an alert, unless an application is in front of a user.
    ///
    /// - Returns: Whether it was shown, be it in the log.
    @discardableResult
    func show(_ alert: Alert) async -> Bool {
        // If that cannot be read, an alert too many is better than none.
        if let overview = try? await states.all(), overview.isAnyInForeground {
            logger.info("no alert, because a user looks at the application: \(ValueText.oneLine(alert.title))")
            return false
        }
        do throws(AlertFailure) {
            try await alerts.show(alert)
            return true
        } catch {
            logger.warning("an alert was not shown: \(error.reason)")
            return false
        }
    }
}
