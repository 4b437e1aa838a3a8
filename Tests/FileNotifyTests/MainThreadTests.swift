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

    @Test("An error that the program throws is written to standard error, and the status is 1")
    func fails() async throws {
        try await group.post("news", state: 0)
        #expect(await program.end() == .exited(1))
        let errors = try OpenFile(path: directory.path(of: "errors"), .read).read(count: 1000, at: 0)
        #expect(String(decoding: errors, as: UTF8.self).contains("It was told to fail."))
    }
}

/// A Main at rest, in a program that runs on its first thread.
@Suite("C26: the wake-ups of a Main at rest")
struct RestingMainThreadTests {
    private let directory: TemporaryDirectory
    private let holder: ChildProcess
    private let program: ChildProcess

    init() async throws {
        directory = try TemporaryDirectory()
        let sleeper = try ChildProcess.built("sharedcore-test-sleeper")
        let group = directory.path(of: "group")
        // Both are processes of their own, because other tests arm fail points in this one.
        holder = try ChildProcess(sleeper, [group, "hold"], input: true)
        let holder = holder
        try await eventually("the holder is there") { holder.lines == ["holds"] }
        let observer = try await FileGroup.open(directory: group, as: SessionDescription(role: .tool))
        try await eventually("it holds") { try await observer.get(".sharedcore/ownership/holder") != nil }
        await observer.close()
        program = try ChildProcess(sleeper, [group, "rest"], input: true)
        let program = program
        try await eventually("it rests") { program.lines == ["rests"] }
    }

    /// The times in seconds until the timers of the program expire; those that are off are left out.
    private func timers() throws -> [Int] {
        let place = "/proc/\(program.pid)/fdinfo"
        return try Directory(path: place).names().compactMap { number in
            // The descriptor may have been closed meanwhile.
            guard let text = OpenFile.text(of: "\(place)/\(number)"),
                let line = text.split(separator: "\n").first(where: { $0.hasPrefix("it_value:") })
            else { return nil }
            let parts = line.drop { $0 != "(" }.dropFirst().dropLast().split(separator: ",")
            let numbers = parts.compactMap { Int($0.drop { $0 == " " }) }
            return numbers == [0, 0] ? nil : numbers.first
        }
    }

    @Test("Over files one timer is left, that of the minute; no thread of the pool is woken every second")
    func wakesOnceAMinute() async throws {
        try await eventually("one timer is left, that of the minute") {
            // Entries that expire in a day have a timer as well.
            let due = try timers().filter { $0 < 3_600 }
            return due.count == 1 && due[0] <= 60
        }
        let tasks = "/proc/\(program.pid)/task"
        let threads = try Directory(path: tasks).names().compactMap { OpenFile.text(of: "\(tasks)/\($0)/comm") }
        #expect(threads.contains("sc-notify\n"))
        #expect(threads.filter { $0.contains("qos") } == [])

        try holder.send("wake")
        let program = program
        try await eventually("it has resumed") { program.lines == ["rests", "resumed"] }
        try await eventually("the store polls again") { try timers().contains { $0 < 10 } }
        #expect(await holder.end() == .exited(0))
    }
}
