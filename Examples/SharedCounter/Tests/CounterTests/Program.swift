import Foundation
import Synchronization

/// A running `counter`.
final class Program: Sendable {
    struct Missing: Error {
        let what: String
        let output: String
    }

    private let process: Process
    private let text = Mutex("")
    private let isRead = Mutex(false)

    init(_ arguments: String...) throws {
        let output = Pipe()
        process = Process()
        process.executableURL = try Self.program
        process.arguments = arguments
        process.standardOutput = output
        output.fileHandleForReading.readabilityHandler = { [weak self] handle in
            let data = handle.availableData
            self?.text.withLock { $0 += String(decoding: data, as: UTF8.self) }
            guard data.isEmpty else { return }
            handle.readabilityHandler = nil
            self?.isRead.withLock { $0 = true }
        }
        try process.run()
    }

    /// The program, which is built beside the bundle that holds this test.
    private static var program: URL {
        get throws {
            let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
            for bundle in [own, CommandLine.arguments[0]] {
                let program = URL(filePath: bundle).deletingLastPathComponent().appending(path: "counter")
                if FileManager.default.isExecutableFile(atPath: program.path(percentEncoded: false)) { return program }
            }
            throw CocoaError(.fileNoSuchFile)
        }
    }

    /// The written lines.
    var lines: [Substring] { text.withLock { $0.split(separator: "\n") } }

    /// Waits until it has written a line.
    func says(_ line: String) async throws {
        try await wait(for: line) { lines.contains(Substring(line)) }
    }

    /// Waits until it has ended and all that it wrote is read; its exit status.
    func ends() async throws -> Int32 {
        try await wait(for: "the end") { !process.isRunning && isRead.withLock { $0 } }
        return process.terminationStatus
    }

    func kill() {
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    private func wait(for what: String, _ condition: () -> Bool) async throws {
        let deadline = ContinuousClock.now + .seconds(60)
        while !condition() {
            guard ContinuousClock.now < deadline else { throw Missing(what: what, output: text.withLock { $0 }) }
            try await Task.sleep(for: .milliseconds(5))
        }
    }
}
