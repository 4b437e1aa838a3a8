internal import FoundationEssentials

/// The line that an Executor of the demo printed.
struct ExecutorLine: Codable, Hashable, Sendable {
    let event: String
    let callID: String
    let text: String?
    let from: String?
    let source: String?
    let coreStarts: Int
    let elapsedMs: UInt64
}

extension ExecutorLine {
    /// Reads a printed line.
    init(printed line: String) throws {
        self = try JSONDecoder().decode(Self.self, from: Data(line.utf8))
    }
}
