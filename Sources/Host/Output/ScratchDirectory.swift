internal import FoundationEssentials
internal import Logging
internal import Platform

/// A fresh directory for files that a command needs only while it runs.
struct ScratchDirectory: Sendable {
    let path: String

    /// Makes a directory below `TMPDIR`, or below `/tmp`.
    ///
    /// - Parameter name: The command's name. In a left-over directory it shows the user which command was killed.
    init(for name: String, environment: [String: String]) throws {
        path = try Directory.makeTemporary("sharedcore-\(name)", in: environment["TMPDIR"])
    }

    /// Removes the directory and its content, or logs that this failed.
    func remove(logger: Logger) {
        do {
            try FileManager.default.removeItem(atPath: path)
        } catch {
            logger.warning("\(path) is left behind: \(error)")
        }
    }
}
