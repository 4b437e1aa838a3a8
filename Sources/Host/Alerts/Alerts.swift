internal import CoreAPI
internal import Lifecycle
internal import Logging

/// Shows alerts to the user from the background: the only way to do so (contract P9).
protocol Alerts: Sendable {
    /// Shows an alert. Returns when it is shown, or throws when it cannot be shown.
    func show(_ alert: Alert) async throws(AlertFailure)
}

/// A message for the user that is shown while no application is in the foreground.
struct Alert: Hashable, Sendable {
    /// One line.
    let title: String
    let text: String

    init(title: String, text: String) {
        self.title = title
        self.text = text
    }
}

/// The reason why an alert was not shown.
struct AlertFailure: Error, Hashable, Sendable {
    /// The reason as text for users.
    let reason: String
}

/// Shows alerts in another way, or writes them to the log if that fails.
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
