import Foundation
import Synchronization

/// `registering-client live` in a network namespace with a cable, which goes with it.
final class LiveNetwork: Sendable {
    struct NotSeen: Error {
        let lines: [String]
    }

    private let process = Process()
    private let keyboard: FileHandle
    private let output = Mutex(Data())
    /// The number of lines that the test has gone past.
    private let seen = Mutex(0)

    private static let isRoot = geteuid() == 0
    private static let namespace = (isRoot ? [] : ["--user", "--map-root-user"]) + ["--net"]
    private static let cable = """
        set -e; ip link set lo up; ip link add wan type veth peer name far; ip link set far up; ip link set wan up
        ip addr add 192.0.2.7/24 dev wan; ip route add default via 192.0.2.1
        """

    static func isAllowed() async -> Bool {
        (try? await run("unshare", namespace + ["sh", "-c", cable])) != nil
    }

    init() throws {
        let (input, output) = (Pipe(), Pipe())
        keyboard = input.fileHandleForWriting
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments =
            ["unshare"] + Self.namespace + ["sh", "-c", "\(Self.cable); exec \"$0\" live", try Self.program]
        process.standardInput = input
        process.standardOutput = output
        output.fileHandleForReading.readabilityHandler = { [weak self] handle in
            let data = handle.availableData
            if data.isEmpty { handle.readabilityHandler = nil }
            self?.output.withLock { $0 += data }
        }
        try process.run()
    }

    deinit {
        // The process ends with its input; otherwise it is terminated.
        try? keyboard.close()
        if process.isRunning { process.terminate() }
    }

    /// The program, which is built beside the bundle that holds this test.
    private static var program: String {
        get throws {
            let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
            for bundle in [own, CommandLine.arguments[0]] {
                let program = URL(filePath: bundle).deletingLastPathComponent().appending(path: "registering-client")
                let path = program.path(percentEncoded: false)
                if FileManager.default.isExecutableFile(atPath: path) { return path }
            }
            throw CocoaError(.fileNoSuchFile)
        }
    }

    /// Runs a script in its namespace.
    func run(_ script: String) async throws {
        let user = Self.isRoot ? [] : ["--user", "--preserve-credentials"]
        try await Self.run(
            "nsenter",
            ["--target", "\(process.processIdentifier)", "--net"] + user + ["sh", "-c", "set -e; " + script])
    }

    private static func run(_ program: String, _ arguments: [String]) async throws {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [program] + arguments
        process.standardError = FileHandle.nullDevice
        let status: Int32 = try await withCheckedThrowingContinuation { continuation in
            process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
            do {
                try process.run()
            } catch {
                process.terminationHandler = nil
                continuation.resume(throwing: error)
            }
        }
        guard status == 0 else { throw CocoaError(.featureUnsupported) }
    }

    /// The printed lines.
    private var lines: [Substring] { String(decoding: output.withLock { $0 }, as: UTF8.self).split(separator: "\n") }

    func type(_ line: String) throws {
        try keyboard.write(contentsOf: Data((line + "\n").utf8))
    }

    /// Waits for a line after those that were seen already.
    func sees(_ condition: (Substring) -> Bool) async throws {
        let deadline = ContinuousClock.now + .seconds(60)
        while true {
            let lines = lines
            let past = seen.withLock { $0 }
            if let found = lines.indices.dropFirst(past).first(where: { condition(lines[$0]) }) {
                seen.withLock { $0 = found + 1 }
                return
            }
            guard ContinuousClock.now < deadline else { throw NotSeen(lines: lines.map(String.init)) }
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    /// Ends its input; the exit status.
    func leave() async throws -> Int32 {
        try keyboard.close()
        let deadline = ContinuousClock.now + .seconds(60)
        while process.isRunning, ContinuousClock.now < deadline { try await Task.sleep(for: .milliseconds(5)) }
        guard !process.isRunning else {
            throw NotSeen(lines: lines.map(String.init))
        }
        return process.terminationStatus
    }
}
