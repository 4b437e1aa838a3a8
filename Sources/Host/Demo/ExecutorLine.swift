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
