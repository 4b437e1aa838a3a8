/// A way to tell the user something from the background. It is the only one that there is, and its form is the desktop's
/// (contract P9).
protocol Alerts: Sendable {
    /// Shows an alert. Returns when it is shown, or when it is certain that it cannot be.
    func show(_ alert: Alert) async throws(AlertFailure)
}
