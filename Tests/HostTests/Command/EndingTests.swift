internal import Subprocess
internal import Testing

@Suite("How commands end")
struct EndingTests {
    @Test("SIGINT and SIGTERM end a command that runs until stopped with status 0", arguments: [2, 15])
    func signals(number: Int32) async throws {
        let program = try HostProgram()
        let ended = try await program.running("store", "watch", "--log-level", "info") {
            try await $0.untilErrors(contain: "watching")
            try $0.send(Signal(rawValue: number))
        }
        #expect(ended.status == 0)
        // The session of the command ended with it.
        let status = try await program.run("status", "--json")
        #expect(try status.objects().first?["sessions"] == .array([]))
    }

    @Test("A command that has not done its job when interrupted says so by status 1")
    func interrupted() async throws {
        let ended = try await HostProgram().running("store", "watch", "--count", "1", "--log-level", "info") {
            try await $0.untilErrors(contain: "watching")
            try $0.send(.interrupt)
        }
        #expect(ended.status == 1)
    }

    @Test("A command that reads standard input is interrupted all the same")
    func reading() async throws {
        let program = try HostProgram()
        let ended = try await program.shell(
            """
            exec 3<> fifo
            sharedcore store put k - < fifo & pid=$!
            until sharedcore status --json | grep -q 'store put'; do :; done
            kill -TERM $pid
            wait $pid
            """, fifo: "fifo")
        #expect(ended.status == 1)
        #expect(ended.errors.contains("interrupted"))
        #expect(try await program.run("store", "get", "k").status == 1)
    }

    @Test("A closed pipe ends a command quietly")
    func closedPipe() async throws {
        let program = try HostProgram()
        // More bytes than a pipe holds, so that the program still writes when its reader has ended.
        let value = String(repeating: "v", count: 200_000)
        #expect(try await program.run(["store", "put", "k", "-"], input: value).status == 0)
        let ended = try await program.shell(
            // A test may run where the signal is ignored already, and the shell passes that on.
            "env --default-signal=PIPE sharedcore store get k | head -c 1; echo ${PIPESTATUS[0]}")
        #expect(ended.output == "v0\n")
        #expect(ended.errors.isEmpty)
    }

    /// Commands that commit a change, and the line that reports it.
    private static let commits = [
        "store put k v", "store delete k", "notify post n", "mailbox send a 1", "mailbox send a 1 --queue",
        "push 1@x",
    ]

    @Test(
        "An output that takes nothing is told with status 74, never as a backend that cannot be used",
        arguments: commits + ["config show", "store list", "status", "notify state n"])
    func fullOutput(command: String) async throws {
        let ended = try await HostProgram().shell(
            "sharedcore store put other v > output; sharedcore \(command) > /dev/full")
        #expect(ended.status == 74, "\(ended)")
        #expect(ended.errors.contains("standard output"))
    }

    @Test("If the receipt of a write has no reader, the status is 74, and the write stays done", arguments: commits)
    func unreadReceipt(command: String) async throws {
        let ended = try await HostProgram().shell(
            // The reader of its output has ended before the command begins.
            "exec 3> >(exit 0); wait $!; env --ignore-signal=PIPE sharedcore \(command) >&3")
        #expect(ended.status == 74, "\(ended)")
        #expect(ended.errors.contains("standard output"))
    }

    @Test("A commit before the failure of the output stays")
    func committed() async throws {
        let program = try HostProgram()
        #expect(try await program.shell("sharedcore store put k v > /dev/full").status == 74)
        #expect(try await program.run("store", "get", "k").output == "v")
    }

    @Test("A message that an Executor cannot print is given back, with status 74", arguments: ["slim", "own"])
    func executor(kind: String) async throws {
        let program = try HostProgram()
        try program.makeDirectory("state/sharedcore/default/Maildir/new")
        _ = try await program.shell("chmod 700 state/sharedcore/default")
        try program.write(
            "From: Zoe <zoe@example.org>\r\nTo: me@example.org\r\nMessage-ID: <1@x>\r\n\r\nHello\r\n",
            to: "state/sharedcore/default/Maildir/new/1")
        let group = "$XDG_STATE_HOME/sharedcore/default"
        let command =
            kind == "own"
            ? "sharedcore executor --call-id 1@x"
            : "sharedcore-executor --directory \(group) --maildir \(group)/Maildir --call-id 1@x --timeout-ms 100000"
        let ended = try await program.shell(command + " > /dev/full")
        #expect(ended.status == 74 && ended.errors.contains("standard output"), "\(ended)")
        let unread = try await program.shell("exec 3> >(exit 0); wait $!; \(command) >&3")
        #expect(unread.status == 74, "\(unread)")
        #expect(try await program.run("executor", "--call-id", "1@x").output.contains("Hello"))
    }
}
