import Foundation
import SharedCore

/// The whole life of the application, with a process for each part, and a check of the result at the end.
struct Story {
    /// The error for a wrong result.
    struct Wrong: Error {
        let what: String
    }

    private let directory: URL
    private let server: MessengerServer

    init() throws {
        directory = URL(filePath: NSTemporaryDirectory()).appending(path: "messenger-\(getpid())")
        server = try MessengerServer(directory: directory.appending(path: "server"))
    }

    func play() async throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        try server.send("Are you there?", from: "Zoe", as: "1")
        try expect(push("1"), "Zoe: Are you there?", "a push runs the core itself")

        let (main, input) = try startMain()
        try server.send("Lunch?", from: "Max", as: "2")
        try expect(push("2"), "Max: Lunch?", "Main answers a push")
        kill(main.processIdentifier, SIGKILL)
        main.waitUntilExit()
        try? input.close()

        try server.send("See you.", from: "Zoe", as: "3")
        try expect(push("3"), "Zoe: See you.", "Main was killed, and the next push is served all the same")
        try await prove()
        print("All messages came, each once, and no two cores ran at once.")
    }

    /// The checker reads the timeline that all processes wrote.
    private func prove() async throws {
        let group = try await FileGroup.open(directory: directory.path + "/group")
        let report = TimelineChecker.check(try await Timeline(group).history())
        await group.close()
        print(report.describe())
        guard report.isClean else { throw Wrong(what: "\(report.violations)") }
        guard try server.waiting().isEmpty else { throw Wrong(what: "the server still has messages") }
    }

    private func push(_ callID: String) throws -> String {
        let output = Pipe()
        let process = program(["push", directory.path, callID], output)
        try process.run()
        let lines = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Wrong(what: "push \(callID) failed") }
        return String(decoding: lines, as: UTF8.self)
    }

    /// Starts a Main, and returns when it runs the core.
    private func startMain() throws -> (Process, FileHandle) {
        let (input, output) = (Pipe(), Pipe())
        let process = program(["main", directory.path], output)
        process.standardInput = input
        try process.run()
        guard output.fileHandleForReading.availableData == Data("Main runs the core.\n".utf8) else {
            throw Wrong(what: "Main did not start")
        }
        return (process, input.fileHandleForWriting)
    }

    private func program(_ arguments: [String], _ output: Pipe) -> Process {
        let process = Process()
        process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = arguments
        process.standardOutput = output
        return process
    }

    private func expect(_ found: String, _ line: String, _ what: String) throws {
        guard found == line + "\n" else { throw Wrong(what: "\(what): “\(found)” in place of “\(line)”") }
        print("\(what): \(line)")
    }
}
