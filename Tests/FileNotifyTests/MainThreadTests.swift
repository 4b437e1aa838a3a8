internal import CoreAPI
internal import CoreAPITesting
internal import FileNotifyBackend
internal import Platform
internal import TestSupport
internal import Testing

/// A program that runs on its first thread.
@Suite("MainThread")
struct MainThreadTests {
    private let directory: TemporaryDirectory
    private let group: FileGroup
    private let program: ChildProcess

    init() async throws {
        directory = try TemporaryDirectory()
        group = try await FileGroup.open(directory: directory.path(of: "group"))
        program = try ChildProcess(
            try ChildProcess.built("sharedcore-test-sleeper"), [directory.path(of: "group")],
            errors: directory.path(of: "errors"))
        let program = program
        try await eventually("it is ready") { program.lines == ["ready"] }
    }

    @Test("While it waits it has no thread of the pool, which would be woken every second; its result is the status")
    func hasNoPool() async throws {
        let tasks = "/proc/\(program.pid)/task"
        let threads = try Directory(path: tasks).names().map { thread in
            try String(decoding: OpenFile(path: "\(tasks)/\(thread)/comm", .read).read(count: 32, at: 0), as: UTF8.self)
        }
        #expect(threads.contains("sc-notify\n"))
        #expect(threads.contains("sharedcore\n"))
        #expect(threads.filter { $0.contains("qos") } == [])

        try await group.post("news", state: 7)
        #expect(await program.end() == .exited(7))
    }

    @Test("What it throws is written to standard error, and its status is 1")
    func fails() async throws {
        try await group.post("news", state: 0)
        #expect(await program.end() == .exited(1))
        let errors = try OpenFile(path: directory.path(of: "errors"), .read).read(count: 1000, at: 0)
        #expect(String(decoding: errors, as: UTF8.self).contains("It was told to fail."))
    }
}
