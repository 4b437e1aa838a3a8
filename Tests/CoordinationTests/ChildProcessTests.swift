internal import CoreAPI
internal import CoreAPITesting
internal import Glibc
internal import Platform
internal import TestSupport
internal import Testing

/// A child process that reads and writes lines.
@Suite("A child process")
struct ChildProcessTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

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

    @Test(
        "Its end is waited for by its identity: by several tasks, also after it came, and not by a task that is cancelled"
    )
    func endByIdentity() async throws {
        let child = try ChildProcess("cat", [], input: true)
        let identity = child.identity
        #expect(ProcessIdentity(of: child.pid) == identity && identity.liveness == .alive)
        let cancelled = Task { try await identity.waitForEnd() }
        cancelled.cancel()
        let error = await #expect(throws: SharedCoreError.self) { try await cancelled.value }
        #expect(error?.code == .cancelled)
        let waiting = (0..<4).map { _ in Task { try await identity.waitForEnd() } }
        await child.killNow()
        for task in waiting { try await withTimeout(TestTimeout.usual, "the end") { try await task.value } }
        try await identity.waitForEnd()
        #expect(identity.liveness == .dead && ProcessIdentity.current.liveness == .alive)
    }

    @Test("A limit that passes takes no line, and neither does a task that is cancelled")
    func limit() async throws {
        let child = try ChildProcess("cat", [], input: true)
        await #expect(throws: LineTimeout.self) { try await child.nextLine(timeout: .milliseconds(1)) }
        let reader = Task { try await child.nextLine() }
        reader.cancel()
        await #expect(throws: CancellationError.self) { try await reader.value }
        // A reader that gives up is not served in the place of one that still waits.
        let patient = Task { try await child.nextLine(timeout: TestTimeout.usual) }
        for _ in 0..<2 {
            await #expect(throws: LineTimeout.self) { try await child.nextLine(timeout: .milliseconds(50)) }
        }
        try child.send("line")
        #expect(try await patient.value == "line")
    }

    @Test("Input that a child does not read delays no sender, and comes whole and in order when it reads")
    func unread() async throws {
        let child = try ChildProcess("cat", [], input: true)
        await child.freeze()
        // Each is more than any socket holds.
        let lines = (0..<8).map { String(repeating: "\($0)", count: 1 << 20) }
        for line in lines { try child.send(line) }
        child.signal(.continue)
        // The child reads now, so the socket has room again and again before everything that waits is sent.
        let later = (0..<20_000).map { "later \($0)" }
        for line in later { try child.send(line) }
        child.closeInput()
        for line in lines + later {
            let isNext = try await child.nextLine(timeout: TestTimeout.long) == line
            try #require(isNext, "\(line.prefix(16))")
        }
        #expect(await child.end() == .exited(0))
    }

    /// A process for which the system can be made to refuse calls.
    private func peer(failPoint: String? = nil, through arguments: [String] = []) async throws -> Peer {
        let program = PeerProgram(path: try ChildProcess.built("sharedcore-test-peer"))
        let peer = try Peer(program, environment: ["SHAREDCORE_FAIL_POINT": failPoint], through: arguments)
        _ = try await peer.answer()
        try await peer.tell("open \(directory.path(of: "group"))")
        return peer
    }

    @Test("If the system has no thread for input that a child does not read, the sender waits, and nothing is lost")
    func withoutThread() async throws {
        let peer = try await peer(failPoint: "pthread_create/child's:fail=11*")
        #expect(try await peer.tell("unread") == "4000004")
    }

    @Test(
        "It inherits nothing, also without close_range, as on an old kernel or behind a filter",
        arguments: [true, false])
    func descriptors(hasCall: Bool) async throws {
        let peer = try await peer(failPoint: hasCall ? nil : "close_range:fail*")
        #expect(try await peer.tell("inherited") == "0 1 2 3")
    }

    @Test("A program that does not exist is reported as such, also where SIGCHLD is ignored")
    func absent() async throws {
        let peer = try await peer(through: ["env", "--ignore-signal=CHLD"])
        try peer.send("absent")
        let answer = try await peer.answer()
        #expect(answer.contains("execve") && answer.contains("No such file"), "\(answer)")
    }

    @Test("If SIGCHLD is ignored, the handle of a child that the kernel has reaped says that it has ended")
    func reaped() async throws {
        let peer = try await peer(through: ["env", "--ignore-signal=CHLD"])
        #expect(try await peer.tell("reaped") == "true false \(StartedProgram.unknownStatus) 0")
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

    @Test("Its end is known though children that it left write without pause")
    func writingHeirs() async throws {
        // So many lines that there is nearly always more to read. Each line is a byte.
        let script = "echo first; for n in 1 2 3 4 5 6 7 8; do yes '' & done; kill -STOP $$; exit 7"
        let child = try ChildProcess("sh", ["-c", script])
        try await eventually("they write") { child.isStopped && child.lines.count > 1000 }
        child.signal(.continue)
        try await eventually("it has ended") { child.hasEnded }
        let count = child.lines.count
        let end = try await withTimeout(TestTimeout.usual, "all that it printed is there") { await child.end() }
        #expect(end == .exited(7) && child.lines.first == "first")
        // At most the content of the socket and two buffers.
        #expect(child.lines.count - count < 1 << 20)
    }

    @Test("A child that it left gets the end of its input with its end")
    func readingHeir() async throws {
        let directory = try TemporaryDirectory()
        let errors = directory.path(of: "errors")
        let script = "exec 3<&0; { cat <&3; echo over >&2; } > /dev/null & exit 7"
        let child = try ChildProcess("sh", ["-c", script], input: true, errors: errors)
        #expect(await child.end() == .exited(7))
        try await eventually("it ends") {
            try OpenFile(path: errors, .read).read(count: 5, at: 0) == Array("over\n".utf8)
        }
        withExtendedLifetime(child) {}
    }

    @Test("A peer that has ended says how, with the end of its standard error")
    func endedPeer() async throws {
        for (script, found) in [
            ("echo problem >&2; exit 7", "it exited with status 7, and said: problem"),
            ("kill -BUS $$", "it was killed by signal 7"),
        ] {
            let peer = try Peer(PeerProgram(path: "/bin/sh", arguments: ["-c", script]))
            let error = await #expect(throws: PeerRefusal.self) { try await peer.answer() }
            #expect(error?.description.hasSuffix("nothing: " + found) == true, "\(String(describing: error))")
        }
    }

    @Test("All that it wrote is there with its end, also more than a buffer")
    func lastWords() async throws {
        // The child writes once, as much as the socket takes, and then ends.
        let child = try ChildProcess("sh", ["-c", "lines=$(seq 25000); kill -STOP $$; echo \"$lines\""])
        try await eventually("it is about to write") { child.isStopped }
        child.signal(.continue)
        #expect(await child.end() == .exited(0))
        #expect(child.lines.count == 25_000 && child.lines.last == "25000")
    }

    @Test("A child that is stopped before it has become its program holds up no start, and can be killed")
    func stoppedBeforeItsProgram() async throws {
        // A path that only this test uses, so that no other test's program is meant.
        let path = "/bin/../bin/./sleep"
        let armed = FailPoint.arm("start.beforeExec/\(path):fail")
        defer { armed.disarm() }
        let child = try ChildProcess(path, ["1000"], ownSession: true)
        try await eventually("it has stopped") { child.isStopped }
        #expect(!child.hasEnded)
        await child.killNow()
        #expect(await child.end() == .killed(by: SIGKILL))
    }

    @Test("A program that cannot be started is an error that names the call and the path")
    func unstartable() throws {
        #expect(throws: SystemCallError("execve", number: ENOENT, at: "/nowhere/program")) {
            try ChildProcess("/nowhere/program", [])
        }
        #expect(throws: SystemCallError("execve", number: EACCES, at: "/etc/passwd")) {
            try ChildProcess("/etc/passwd", [])
        }
    }

    @Test("It is frozen and resumed; killed now it is reaped when the call returns, or left as a zombie")
    func ends() async throws {
        let child = try ChildProcess("sleep", ["1000"])
        await child.freeze()
        #expect(child.isStopped && !child.hasEnded)
        child.signal(.continue)
        try await eventually("it runs") { !child.isStopped }
        await child.killNow()
        #expect(kill(child.pid, 0) != 0 && child.hasEnded)
        #expect(await child.end() == .killed(by: SIGKILL))

        let zombie = try ChildProcess("sleep", ["1000"])
        zombie.killLeavingZombie()
        try await eventually("it has ended") { zombie.hasEnded }
        #expect(try await zombie.nextLine(timeout: TestTimeout.usual) == nil)
        #expect(kill(zombie.pid, 0) == 0)
    }

    @Test("While killNow() waits, other tasks run on its thread")
    func killNowSuspends() async throws {
        // With much memory, so that the system takes time to end the process.
        let script = "x=$(head -c 100000000 /dev/zero | tr '\\0' x); echo ready; kill -STOP $$"
        let child = try ChildProcess("sh", ["-c", script])
        #expect(try await child.nextLine(timeout: TestTimeout.long) == "ready")
        let executor = ThreadExecutor(thread: "one")
        let order = Box<[String]>([])
        await Task(executorPreference: executor) {
            let other = Task(executorPreference: executor) { order.update { $0.append("other") } }
            await child.killNow()
            order.update { $0.append("killed") }
            await other.value
        }.value
        #expect(order.value == ["other", "killed"])
    }

    @Test("While start() waits for a child that does not run its program yet, other tasks run on its thread")
    func startSuspends() async throws {
        // A path that only this test uses, so that no other test's program is meant.
        let path = "/bin/.././bin/sleep"
        let armed = FailPoint.arm("start.beforeExec/\(path):fail")
        defer { armed.disarm() }
        let executor = ThreadExecutor(thread: "one")
        let order = Box<[String]>([])
        try await Task(executorPreference: executor) {
            let other = Task(executorPreference: executor) { order.update { $0.append("other") } }
            let child = try await ChildProcess.start(path, ["1000"])
            order.update { $0.append("started") }
            await other.value
            await child.killNow()
        }.value
        #expect(order.value == ["other", "started"])
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
