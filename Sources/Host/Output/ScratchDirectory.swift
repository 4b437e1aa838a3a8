internal import FoundationEssentials
internal import Glibc
internal import Logging
internal import Platform

/// A fresh directory for what a command needs only while it runs.
struct ScratchDirectory: Sendable {
    let path: String

    /// - Parameter name: The command's name, for whoever finds what a killed one left behind.
    init(for name: String, environment: [String: String]) throws {
        let base = environment["TMPDIR"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "/tmp"
        var template = Array("\(base)/sharedcore-\(name)-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw SystemCallError("mkdtemp", number: errno, at: base) }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Removes it with all that is in it, or says that it could not.
    func remove(logger: Logger) {
        do {
            try FileManager.default.removeItem(atPath: path)
        } catch {
            logger.warning("\(path) is left behind: \(error)")
        }
    }
}
