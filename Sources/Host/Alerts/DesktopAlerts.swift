internal import CoreAPI
internal import Platform

/// The desktop's notification service, org.freedesktop.Notifications on the session's bus.
///
/// Source: Desktop Notifications Specification 1.2.
struct DesktopAlerts: Alerts {
    /// The application's name on the desktop.
    let application: String
    /// The time limit for an answer of the notification service.
    var timeout = Duration.seconds(5)

    /// The extra time for the bus, whose library has time limits of its own, up to 90 s.
    private static let busTimeout = Duration.seconds(1)

    init(application: String) {
        self.application = application
    }

    func show(_ alert: Alert) async throws(AlertFailure) {
        let result = Promise<Result<Void, AlertFailure>>()
        // Use a separate thread: a service that does not answer must delay neither other alerts nor the Executor that
        // waits for this one.
        SerialThread(name: "alert").submit { [self] in
            let shown = Result { () throws(AlertFailure) in try call(with: alert) }
            result.fulfil(shown)
        }
        let ending = Task { [timeout] in
            try await Task.sleep(for: timeout + Self.busTimeout)
            result.fulfil(.failure(AlertFailure(reason: "the desktop does not answer")))
        }
        defer { ending.cancel() }
        try await result.value().get()
    }

    private func call(with alert: Alert) throws(AlertFailure) {
        let problem = DesktopNotification.show(
            application: Self.text(application), title: Self.text(alert.title), markup: Self.markup(alert.text),
            microseconds: UInt64(clamping: timeout.components.seconds) * 1_000_000)
        if let problem { throw AlertFailure(reason: problem) }
    }

    /// Returns a text without the byte that ends a string in C.
    private static func text(_ text: String) -> String {
        String(decoding: text.utf8.map { $0 == 0 ? UInt8(ascii: " ") : $0 }, as: UTF8.self)
    }

    /// Returns a text that services with markup show unchanged. Escapes scalars, not characters: a bracket with a
    /// combining mark is one `Character`, which does not equal the bracket.
    static func markup(_ plain: String) -> String {
        text(plain).unicodeScalars.reduce(into: "") { result, scalar in
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            default: result.unicodeScalars.append(scalar)
            }
        }
    }
}
