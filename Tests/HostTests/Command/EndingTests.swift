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
        // Its session ended with it.
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
        // More than a pipe holds, so that the program still writes when its reader is gone.
        let value = String(repeating: "v", count: 200_000)
        #expect(try await program.run(["store", "put", "k", "-"], input: value).status == 0)
        let ended = try await program.shell(
            // A test may run where the signal is ignored already, and the shell passes that on.
            "env --default-signal=PIPE sharedcore store get k | head -c 1; echo ${PIPESTATUS[0]}")
        #expect(ended.output == "v0\n")
        #expect(ended.errors.isEmpty)
    }

    @Test("An output that takes nothing is told with status 69")
    func fullOutput() async throws {
        let ended = try await HostProgram().shell("sharedcore config show > /dev/full")
        #expect(ended.status == 69)
        #expect(ended.errors.contains("standard output"))
    }
}
