import Foundation
import Synchronization

/// One running chat, with a keyboard and a screen.
final class Terminal: Sendable {
    struct NotSeen: Error {
        let line: String
        let screen: String
    }

    private let process: Process
    private let keyboard: FileHandle
    private let text = Mutex("")

    init(_ directory: URL, _ name: String) throws {
        let (input, output) = (Pipe(), Pipe())
        keyboard = input.fileHandleForWriting
        process = Process()
        process.executableURL = try Self.program
        process.arguments = [directory.path(percentEncoded: false), name]
        process.standardInput = input
        process.standardOutput = output
        output.fileHandleForReading.readabilityHandler = { [weak self] handle in
            let data = handle.availableData
            if data.isEmpty { handle.readabilityHandler = nil }
            self?.text.withLock { $0 += String(decoding: data, as: UTF8.self) }
        }
        try process.run()
    }

    /// The program, which is built beside the bundle that holds this test.
    private static var program: URL {
        get throws {
            let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
            for bundle in [own, CommandLine.arguments[0]] {
                let program = URL(filePath: bundle).deletingLastPathComponent().appending(path: "wormhole-chat")
                if FileManager.default.isExecutableFile(atPath: program.path(percentEncoded: false)) { return program }
            }
            throw CocoaError(.fileNoSuchFile)
        }
    }

    /// The lines on the screen.
    var screen: [Substring] { text.withLock { $0.split(separator: "\n") } }

    func type(_ line: String) throws {
        try keyboard.write(contentsOf: Data((line + "\n").utf8))
    }

    /// Waits until a line stands on the screen.
    func sees(_ line: String) async throws {
        let deadline = ContinuousClock.now + .seconds(60)
        while !screen.contains(Substring(line)) {
            guard ContinuousClock.now < deadline else {
                throw NotSeen(line: line, screen: text.withLock { $0 })
            }
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    /// Ctrl-D; the exit status.
    func leave() async throws -> Int32 {
        try keyboard.close()
        let deadline = ContinuousClock.now + .seconds(60)
        while process.isRunning, ContinuousClock.now < deadline { try await Task.sleep(for: .milliseconds(5)) }
        guard !process.isRunning else { throw NotSeen(line: "the end", screen: text.withLock { $0 }) }
        return process.terminationStatus
    }

    /// Ends it without a word, as a crash would.
    func kill() {
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }
}
