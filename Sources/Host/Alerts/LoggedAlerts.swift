internal import Logging

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
