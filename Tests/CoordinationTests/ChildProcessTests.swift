internal import CoreAPI
internal import CoreAPITesting
internal import Glibc
internal import Platform
internal import Testing

/// A child process that is driven by lines.
@Suite("A child process")
struct ChildProcessTests {
    @Test("It is sent lines and answers with lines, until its input is closed")
    func lines() async throws {
        let child = try ChildProcess("cat", [], input: true)
        try child.send("one", "two")
        #expect(try await child.nextLine(timeout: TestTimeout.usual) == "one")
        #expect(try await child.nextLine(timeout: TestTimeout.usual) == "two")
        child.closeInput()
        #expect(try await child.nextLine(timeout: TestTimeout.usual) == nil)
        #expect(await child.end() == .exited(0))
        #expect(child.lines == ["one", "two"] && child.ended == .exited(0))
    }

    @Test("A limit that passes takes no line, and neither does a task that is cancelled")
    func limit() async throws {
        let child = try ChildProcess("cat", [], input: true)
        await #expect(throws: LineTimeout.self) { try await child.nextLine(timeout: .milliseconds(1)) }
        let reader = Task { try await child.nextLine() }
        reader.cancel()
        await #expect(throws: CancellationError.self) { try await reader.value }
        try child.send("line")
        #expect(try await child.nextLine(timeout: TestTimeout.usual) == "line")
    }

    @Test("A line to a process that has ended is an error and no signal")
    func gone() async throws {
        let child = try ChildProcess("true", [], input: true)
        #expect(await child.end() == .exited(0))
        #expect(throws: SystemCallError.self) { try child.send("line") }
    }

    @Test("Its end is known though a child that it left holds its output")
    func heirs() async throws {
        let child = try ChildProcess("sh", ["-c", "sleep 1000 & echo $!; exit 7"])
        let end = try await withTimeout(TestTimeout.usual, "the end of the shell") { await child.end() }
        #expect(end == .exited(7))
        let heir = try #require(child.lines.first.flatMap { Int32($0) })
        kill(heir, SIGKILL)
    }

    @Test("It is frozen and resumed; killed now it is reaped when the call returns, or left as a zombie")
    func ends() async throws {
        let child = try ChildProcess("sleep", ["1000"])
        await child.freeze()
        #expect(child.isStopped && !child.hasEnded)
        child.signal(SIGCONT)
        try await eventually("it runs") { !child.isStopped }
        child.killNow()
        #expect(kill(child.pid, 0) != 0 && child.hasEnded)
        #expect(await child.end() == .killed(by: SIGKILL))

        let zombie = try ChildProcess("sleep", ["1000"])
        zombie.killLeavingZombie()
        try await eventually("it has ended") { zombie.hasEnded }
        #expect(try await zombie.nextLine(timeout: TestTimeout.usual) == nil)
        #expect(kill(zombie.pid, 0) == 0)
    }

    @Test("Signals reach the group of a process with a session of its own, and it dies with the last reference")
    func group() async throws {
        var child: ChildProcess? = try ChildProcess("sh", ["-c", "sleep 1000 & echo $!; wait"], ownSession: true)
        let line = try await child?.nextLine(timeout: TestTimeout.usual)
        let number = try #require(line.flatMap { Int32($0) })
        let inner = try #require(ProcessIdentity(of: number))
        child = nil
        try await eventually("the process of its group is gone") { inner.liveness == .dead }
    }
}
