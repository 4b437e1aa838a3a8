internal import CoreAPI
internal import Lifecycle
internal import Logging

/// The alerts of a group. They appear on the desktop, else in the log. While an application is in the foreground it
/// shows its messages itself, and no alert appears.
///
/// `await BackgroundAlerts(of: group, logger: logger).show(alert)` when an Executor has printed a message.
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

    /// Shows an alert, unless an application is in the foreground.
    ///
    /// - Returns: True if the alert was shown or written to the log.
    @discardableResult
    func show(_ alert: Alert) async -> Bool {
        // If the states cannot be read, show the alert: one too many is better than a lost one.
        if let overview = try? await states.all(), overview.isAnyInForeground {
            logger.info("no alert, because an application is in the foreground: \(ValueText.oneLine(alert.title))")
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
