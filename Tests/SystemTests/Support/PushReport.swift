internal import Foundation

/// The line that an Executor prints.
struct PushReport: Decodable {
    let event: String
    let callID: String
    let text: String?
    let source: String?
    let coreStarts: Int
    let elapsedMs: Int

    /// Nil when the line is no report.
    init?(_ line: String) {
        guard let report = try? JSONDecoder().decode(PushReport.self, from: Data(line.utf8)) else { return nil }
        self = report
    }
}
