internal import Coordination
internal import CoreAPI
internal import CoreAPITesting
internal import ExecutorRun
internal import FileNotifyBackend
internal import Glibc
internal import Lifecycle
internal import Platform
internal import ProgramOutput
internal import SharedCoreConfiguration
internal import Synchronization
internal import TestSupport
internal import Testing

@testable internal import SharedCoreHost

@Suite("The process of an Executor")
struct ExecutorProcessTests {
    private let directory: TemporaryDirectory

    init() throws {
        BrokenPipes.areErrors
        directory = try TemporaryDirectory()
    }

    private func program(_ script: String, isHeld: Bool = false) throws -> ExecutorInvocation {
        ExecutorInvocation(
            path: try ChildProcess.built("sharedcore"),
            arguments: StartGate.arguments(
                for: ["/bin/sh", "-c", script], as: .executor, leave: isHeld ? STDIN_FILENO : nil),
            variables: [:], isHeld: isHeld)
    }

    private func end(_ executor: ExecutorProcess) async throws -> ExecutorEnd {
        try await withTimeout(TestTimeout.long, "the end of the Executor") { await executor.end() }
    }

    /// Returns true if the program makes `path` while its start is held back for up to 2 s. Any program begins in less
    /// time.
    private func beginsEarly(_ program: ExecutorInvocation, making path: String) async throws -> Bool {
        let isEarly = Mutex(false)
        let executor = try await ExecutorProcess.start(program, limits: ExecutorLimits()) { _ in
            let isThere = waitOnThread(atMost: .seconds(2)) { access(path, F_OK) == 0 }
            isEarly.withLock { $0 = isThere }
            return nil
        }
        _ = try await end(executor)
        #expect(access(path, F_OK) == 0)
        return isEarly.withLock { $0 }
    }

    @Test("A configured command does nothing until it is where its memory is limited")
    func heldCommand() async throws {
        let path = directory.path(of: "ran")
        #expect(try await !beginsEarly(program("touch \(path)", isHeld: true), making: path))
    }

    @Test("The slim Executor does nothing until it is where its memory is limited")
    func heldSlim() async throws {
        let arguments = [
            "--directory", directory.path(of: "group"), "--call-id", "1@x", "--timeout-ms", "100", "--maildir",
            directory.path(of: "mail"), "--held",
        ]
        let slim = ExecutorInvocation(
            path: try ChildProcess.built("sharedcore-executor"), arguments: arguments, variables: [:], isHeld: true)
        #expect(try await !beginsEarly(slim, making: directory.path(of: "group")))
    }

    @Test("A process that is held ends if no process is left to release it", arguments: StartGate.Way.allCases)
    func abandoned(way: StartGate.Way) async throws {
        let path = directory.path(of: "ran")
        // The standard input of the process is at its end.
        let child = try ChildProcess(
            try ChildProcess.built("sharedcore"),
            StartGate.arguments(for: ["/usr/bin/touch", path], as: way, leave: STDIN_FILENO))
        #expect(await child.end() == .exited(ExclusiveStatus.refusal))
        #expect(access(path, F_OK) != 0)
    }

    @Test("A host that limits memory by the system holds the process that it starts for a push")
    func launch() throws {
        let resolution = Resolution(
            flags: [:], environment: ["HOME": directory.path, "SHAREDCORE_EXECUTOR_COMMAND": "true"], file: nil,
            workingDirectory: .path(directory.path))
        let launch = try ExecutorLaunch(resolution, timeout: .seconds(1))
        let callID = try #require(PushID.callID("1@x"))
        for isHeld in [true, false] {
            let program = launch.program(for: Push(callID), isHeld: isHeld)
            #expect(program.isHeld == isHeld && program.arguments.contains("free") == !isHeld)
        }
    }

    @Test(
        "A call-id is no part of a program's name or of a shell's script, however the option is written",
        arguments: [
            ("{id}", false), ("/bin/{id} x", false), ("sh -c {id}", false), ("bash -c -- 'echo {id}'", false),
            ("sh -ec 'echo {id}'", false), ("env sh -xc 'echo {id}'", false), ("python3 -c'print({id})'", false),
            ("sh -c -e 'echo {id}'", false), ("sh -c 'echo \"$1\"' x {id}", true), ("/bin/echo --call={id}", true),
            ("/bin/echo {id} -c x", true), ("/bin/echo -n {id}", true), ("/bin/echo --config {id}", true),
            ("bash -c -o pipefail 'echo {id}'", false), ("bash -ceuo pipefail 'echo {id}'", false),
            ("bash -euco pipefail 'echo {id}'", false), ("bash -c +x 'echo {id}'", false),
            ("bash -cO extglob 'echo {id}'", false), ("sh -c +e 'echo {id}'", false),
            ("sh -c -o noglob 'echo {id}'", false), ("bash +ec 'echo {id}'", false), ("bash +c 'echo {id}'", false),
            ("sh -c - 'echo {id}'", false), ("bash --posix -c 'echo {id}'", false),
            ("env A=b sh -c 'echo {id}'", false), ("bash -c -- -o pipefail 'echo {id}'", false),
            ("/bin/busybox sh -1c -x run 'echo {id}'", false), ("bash5.2 -cO extglob {id}", false),
            ("sh script.sh {id}", true), ("sh script.sh --call={id}", true), ("sh -e script.sh -n {id}", true),
            ("bash -e -o pipefail -c 'echo \"$1\"' sh {id}", true), ("bash -ec 'echo \"$1\"' sh {id}", false),
            ("java -cp run.jar Main {id}", true), ("run -c run.yaml --call={id}", true),
        ])
    func scripts(command: String, isTaken: Bool) throws {
        let directory = try TemporaryDirectory()
        let resolution = Resolution(
            flags: [:], environment: ["HOME": directory.path, "SHAREDCORE_EXECUTOR_COMMAND": command], file: nil,
            workingDirectory: .path(directory.path))
        var failure: (any Error)?
        do { _ = try ExecutorLaunch(resolution, timeout: .seconds(1)) } catch { failure = error }
        #expect((failure == nil) == isTaken)
        #expect(failure.map { "\($0)".contains("executor.command has “{id}”") } ?? true)
    }

    @Test("P9: the host reads an Executor's first line as soon as it is written, once, however the Executor ends")
    func heard() async throws {
        for (script, isKilled) in [
            ("echo one; echo two; exec sleep 1000", true), ("printf one; kill -9 $$", false),
            ("echo one; exit 3", false),
        ] {
            let lines = Mutex<[String]>([])
            let executor = try await ExecutorProcess.start(
                try program(script), limits: Self.patient, hear: { line in lines.withLock { $0.append(line.text) } }
            )
            if isKilled {
                try await eventually("it is heard while it runs", timeout: TestTimeout.long) {
                    lines.withLock { $0 } == ["one"]
                }
                executor.stop()
            }
            let end = try await end(executor)
            #expect(end.status != 0 && end.line?.text == "one" && lines.withLock { $0 } == ["one"], "\(script)")
        }
    }

    private static let patient = ExecutorLimits(warning: .seconds(3600), budget: .seconds(3600))

    /// An Executor that has its message to give, and the inbox that holds the message.
    private func confirmed(
        _ body: (ExecutorInvocation, @escaping @Sendable () async throws -> InboxState) async throws -> Void
    ) async throws {
        let callID = try #require(CallID("1@x"))
        let path = directory.path(of: "group")
        for folder in ["", "/new", "/cur", "/tmp"] {
            _ = try Directory.create(path: directory.path(of: "mail") + folder, permissions: 0o700)
        }
        let mail = "From: zoe@example.org\r\nTo: me@example.org\r\nMessage-ID: <1@x>\r\n\r\nHello\r\n"
        try OpenFile(path: directory.path(of: "mail/new/1"), .createNew).write(Array(mail.utf8), at: 0)
        let group = try await FileGroup.open(directory: path, as: SessionDescription(name: "test"))
        let arguments = [
            "--directory", path, "--call-id", "1@x", "--timeout-ms", "3600000", "--budget-ms", "3600000", "--maildir",
            directory.path(of: "mail"), "--confirmed",
        ]
        let slim = ExecutorInvocation(
            path: try ChildProcess.built("sharedcore-executor"), arguments: arguments, variables: [:], isConfirmed: true
        )
        try await body(slim) { try await Inbox(group).state(of: callID) }
        await group.close()
    }

    @Test("P9: an Executor's message is acknowledged after the host has read its line, and not before")
    func acknowledgedBehind() async throws {
        try await confirmed { program, state in
            let (heard, go) = (Promise<Void>(), Promise<Void>())
            let executor = try await ExecutorProcess.start(
                program, limits: Self.patient,
                hear: { _ in
                    heard.open()
                    await go.pass()
                })
            try await withTimeout(TestTimeout.long, "its line is heard") { await heard.pass() }
            for _ in 0..<20 {
                guard case .taken = try await state() else {
                    Issue.record("It is acknowledged.")
                    break
                }
                try await Task.sleep(for: .milliseconds(20))
            }
            go.open()
            let end = try await end(executor)
            #expect(end.status == 0)
            #expect(try await state() == .acknowledged)
        }
    }

    @Test("P9: an Executor that is told to end before the host has read its line gives its message back")
    func toldToEnd() async throws {
        try await confirmed { program, state in
            let (heard, go) = (Promise<Void>(), Promise<Void>())
            let executor = try await ExecutorProcess.start(
                program, limits: Self.patient,
                hear: { _ in
                    heard.open()
                    await go.pass()
                })
            try await withTimeout(TestTimeout.long, "its line is heard") { await heard.pass() }
            _ = try ProcessHandle(executor.process).signal(.terminate)
            try await eventually("it is given back", timeout: TestTimeout.long) {
                if case .stored = try await state() { true } else { false }
            }
            go.open()
            let end = try await end(executor)
            #expect(end.status == ExitStatus.output.rawValue && end.verdict == .failed)
        }
    }

    @Test("A kill that could not be sent is sent again")
    func killedLater() async throws {
        let failures = Mutex(0)
        let limits = ExecutorLimits(warning: .milliseconds(50), budget: .milliseconds(100), memory: nil)
        let signalling: ExecutorProcess.Signalling = { handle, signal throws(SystemCallError) in
            // As for a program that has another user's rights for a while.
            guard signal == .kill, failures.withLock({ $0 < 3 }) else {
                if signal == .kill { try handle.signal(.kill) }
                return
            }
            failures.withLock { $0 += 1 }
            throw SystemCallError("pidfd_send_signal", number: EPERM, at: "process \(handle.identity.pid)")
        }
        let executor = try await ExecutorProcess.start(
            try program("exec sleep 1000"), limits: limits, signal: signalling)
        let end = try await end(executor)
        #expect(failures.withLock { $0 } == 3)
        #expect(end.status == 137 && end.killing == .time)
    }
}
