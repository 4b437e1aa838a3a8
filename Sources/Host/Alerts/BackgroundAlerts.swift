internal import CoreAPI
internal import Lifecycle
internal import Logging

/// Alerts of a group: shown on the desktop, else in the log, and not at all while a user looks at the application, which
/// shows its messages itself.
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

    /// Shows an alert, unless a user looks.
    ///
    /// - Returns: Whether it was shown, be it in the log.
    @discardableResult
    func show(_ alert: Alert) async -> Bool {
        // Where nobody can tell who looks, an alert too many is better than none.
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
