import Foundation
import Testing

/// `sqlite-core`, which is `sharedcore` with this backend: five lines of its own.
@Suite("The program with the SQLite backend", .serialized)
struct ProgramTests {
    private let directory = FileManager.default.temporaryDirectory.appending(path: "program-\(UUID().uuidString)")

    @Test("Values that one process writes are read by another, in a database")
    func values() throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        #expect(try run("set", "greeting", "hello").status == 0)
        #expect(try run("get", "greeting").output == "hello")
        #expect(FileManager.default.fileExists(atPath: directory.appending(path: "default/group.sqlite").path))
        #expect(try run("backends").output.contains("sqlite  added"))
    }

    @Test("A push is served by an Executor that is the same program")
    func push() throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        let host = try start("serve", "--json")
        defer {
            host.process.terminate()
            host.process.waitUntilExit()
        }
        #expect(try until { try run("status", "--json").output.contains("\"host\":{") })
        #expect(try run("push", "first").status == 0)
        #expect(try until { try run("timeline").output.contains("first") })
        #expect(try run("check").status == 0)
    }

    private func start(_ arguments: String...) throws -> (process: Process, output: Pipe) {
        try start(arguments)
    }

    private func start(_ arguments: [String]) throws -> (process: Process, output: Pipe) {
        let bundle = CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? CommandLine.arguments[0]
        let process = Process()
        process.executableURL = URL(filePath: bundle).deletingLastPathComponent().appending(path: "sqlite-core")
        process.arguments = ["--backend", "sqlite", "--state-directory", directory.path] + arguments
        process.environment = ["PATH": "/usr/bin:/bin", "HOME": directory.path]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        return (process, output)
    }

    private func run(_ arguments: String...) throws -> (status: Int32, output: String) {
        let (process, output) = try start(arguments)
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: data, as: UTF8.self))
    }

    /// Asks until the answer is yes; false after a minute.
    private func until(_ condition: () throws -> Bool) throws -> Bool {
        let deadline = ContinuousClock.now.advanced(by: .seconds(60))
        while ContinuousClock.now < deadline {
            if try condition() { return true }
            Thread.sleep(forTimeInterval: 0.05)
        }
        return false
    }
}
