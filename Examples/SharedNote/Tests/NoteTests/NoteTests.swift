import Foundation
import Testing

@Suite("One file describes a group in files and one behind a hub")
struct NoteTests {
    private let directory: URL
    /// The directory of the programs `note` and `sharedcore`: that of the bundle with this test.
    private let programs: URL

    init() throws {
        // Short, as the path of a socket is short.
        directory = URL(filePath: "/tmp/note-\(UInt64.random(in: 0...UInt64.max))", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let file = URL(filePath: #filePath).appending(path: "../../../sharedcore.yaml").standardizedFileURL
        let copy = directory.appending(path: "sharedcore.yaml")
        try FileManager.default.copyItem(at: file, to: copy)
        // Also where the mask lets a group write: such a file is refused.
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: copy.path)
        let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        programs = try #require(
            [own, CommandLine.arguments[0]].map { URL(filePath: $0).deletingLastPathComponent() }.first {
                FileManager.default.isExecutableFile(atPath: $0.appending(path: "note").path)
            })
    }

    /// Runs a program to its end, on a thread of its own, and returns its exit status and its output.
    private func run(_ name: String, _ arguments: String...) async throws -> (status: Int32, output: String) {
        let process = Process()
        process.executableURL = programs.appending(path: name)
        process.arguments = arguments
        process.currentDirectoryURL = directory
        process.environment = ["PATH": "/usr/bin:/bin", "HOME": directory.path]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        return await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                let data = output.fileHandleForReading.readDataToEndOfFile()
                process.waitUntilExit()
                continuation.resume(returning: (process.terminationStatus, String(decoding: data, as: UTF8.self)))
            }
        }
    }

    @Test("A note in files is read by the application and by the command of sharedcore")
    func files() async throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        #expect(try await run("note", "write", "hello").status == 0)
        #expect(try await run("note", "read").output == "hello\n")
        #expect(try await run("sharedcore", "store", "get", "note").output == "hello")
    }

    @Test("A note behind a hub is written by its first client, which starts the hub")
    func hub() async throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        let settings = ["backend=zmq", "group=live"]
        #expect(try await run("note", "write", "there", settings[0], settings[1]).status == 0)
        let read = try await run("note", "read", settings[0], settings[1])
        let group = ["--backend", "zmq", "--group", "live"]
        let got = try await run("sharedcore", "store", "get", "note", group[0], group[1], group[2], group[3])
        // With status 1 when no hub runs.
        let stopped = try await run("sharedcore", "hub", "--stop", group[0], group[1], group[2], group[3])
        #expect(read.output == "there\n" && got.output == "there" && stopped.status == 0)
        #expect(try await run("note", "read").status == 1, "the group in files is another one")
    }
}
