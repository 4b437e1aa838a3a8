internal import CoreAPI
internal import FoundationEssentials
internal import Logging
internal import ProgramOutput
internal import SharedCoreConfiguration

/// Shows the user an alert for each message that a host's Executors have printed (contract P9).
struct PushAlerts: Sendable {
    private let alerts: BackgroundAlerts

    /// Returns nil if alerts are off.
    init?(of group: any SharedStore, for context: CommandContext) throws(ConfigurationFailure) {
        let logger = context.logger
        switch try context.resolution.value(Settings.alerts) {
        case "desktop": alerts = BackgroundAlerts(of: group, logger: logger)
        case "log":
            alerts = BackgroundAlerts(
                of: group, showing: LoggedAlerts(first: NoDesktop(), logger: logger), logger: logger)
        default: return nil
        }
    }

    /// Shows an alert for an Executor's line, if it has a message to show. Returns when it is shown or has failed.
    func tell(of line: PrintedLine) async {
        guard let alert = Alert(printedIn: line) else { return }
        await alerts.show(alert)
    }
}

/// The alerts for the log alone.
struct NoDesktop: Alerts {
    func show(_ alert: Alert) async throws(AlertFailure) {
        throw AlertFailure(reason: "alerts go to the log")
    }
}

extension Alert {
    /// The report of an Executor about a message; `ExecutorReport` writes it.
    private struct Report: Decodable {
        let event: String
        let text: String?
        let from: String?
    }

    /// Returns nil if the Executor's line has nothing to show.
    init?(printedIn line: PrintedLine) {
        guard let report = try? JSONDecoder().decode(Report.self, from: Data(line.text.utf8)) else { return nil }
        let title = report.from.flatMap { $0.isEmpty ? nil : $0 } ?? "A message"
        switch report.event {
        case "message": self.init(title: title, text: report.text ?? "")
        case "tooLarge": self.init(title: title, text: "A message that is too large to be shown here.")
        case "call" where report.text == "missed": self.init(title: title, text: "A missed call.")
        case "call": self.init(title: title, text: "A call, \(report.text ?? "").")
        default: return nil
        }
    }
}
