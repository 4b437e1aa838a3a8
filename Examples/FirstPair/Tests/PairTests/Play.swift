import Foundation

/// The program in a directory of its own, as a user at a shell runs it.
final class Play {
    let directory: URL

    init() throws {
        directory = FileManager.default.temporaryDirectory.appending(path: "pair-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(
            at: directory.appending(path: "data/letters"), withIntermediateDirectories: true)
    }

    func remove() {
        try? FileManager.default.removeItem(at: directory)
    }

    func write(_ text: String, as callID: String) throws {
        try Data((text + "\n").utf8).write(to: directory.appending(path: "data/letters/\(callID)"))
    }

    /// Starts it; its output goes to a file, which ``output(_:)`` reads.
    func start(_ arguments: String..., as name: String) throws -> Process {
        let file = directory.appending(path: name)
        try Data().write(to: file)
        let process = Process()
        process.executableURL = Bundle.main.executableURL?.deletingLastPathComponent().appending(path: "pair")
        process.arguments = arguments
        process.currentDirectoryURL = directory
        let output = try FileHandle(forWritingTo: file)
        process.standardOutput = output
        process.standardError = output
        try process.run()
        return process
    }

    func output(_ name: String) throws -> String {
        try String(contentsOf: directory.appending(path: name), encoding: .utf8)
    }

    /// Waits until a condition holds, and returns true if it held within half a minute.
    func waits(_ condition: () throws -> Bool) async throws -> Bool {
        let clock = ContinuousClock()
        let deadline = clock.now + .seconds(30)
        while clock.now < deadline {
            if try condition() { return true }
            try await Task.sleep(for: .milliseconds(20))
        }
        return false
    }
}
