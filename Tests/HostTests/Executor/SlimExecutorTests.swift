internal import CoreAPITesting
internal import Subprocess
internal import TestSupport
internal import Testing

/// The program that is started for a push, and that must behave as the `executor` command does.
@Suite("The slim Executor")
struct SlimExecutorTests {
    private let program: HostProgram

    init() throws {
        program = try HostProgram(named: "sharedcore-executor")
    }

    private func arguments(_ more: String...) -> [String] {
        [
            "--directory", program.directory.path(of: "group"), "--maildir", program.directory.path(of: "mail"),
            "--call-id", "1@x",
        ] + more
    }

    @Test("It prints the message with the fields that scripts rely on")
    func message() async throws {
        try program.makeDirectory("mail/new")
        try program.write(
            "From: Zoe <zoe@example.org>\r\nTo: me@example.org\r\nMessage-ID: <1@x>\r\n\r\nHello\r\n",
            to: "mail/new/1")
        let ended = try await program.run(arguments("--timeout-ms", "200000"))
        #expect(ended.status == 0, "\(ended.errors)")
        let line = try #require(try ended.objects().first)
        #expect(
            Set(line.keys) == ["event", "callID", "text", "from", "source", "coreStarts", "elapsedMs", "kind", "to"])
        #expect(line["kind"] == .text("text") && line["to"] == .text("me@example.org"))
        #expect(line["event"] == .text("message") && line["text"] == .text("Hello"))
    }

    @Test(
        "P9: where its host does not confirm the line, the message is given back with status 74",
        arguments: [true, false])
    func unconfirmed(isSlim: Bool) async throws {
        var host = HostProgram(named: "sharedcore", in: program.directory)
        host.environment["SHAREDCORE_STATE_DIRECTORY"] = program.directory.path
        host.environment["SHAREDCORE_GROUP"] = "group"
        host.environment["SHAREDCORE_CORE_MAILDIR"] = program.directory.path(of: "mail")
        try program.makeDirectory("mail/new")
        try program.write(
            "From: Zoe <zoe@example.org>\r\nTo: me@example.org\r\nMessage-ID: <1@x>\r\n\r\nHello\r\n",
            to: "mail/new/1")
        func run(_ more: String...) async throws -> HostProgram.Ended {
            isSlim
                ? try await program.run(arguments("--timeout-ms", "200000") + more)
                : try await host.run(["executor", "--json", "--call-id", "1@x", "--timeout", "200s"] + more)
        }
        // The end of its standard input is no confirmation.
        let unconfirmed = try await run("--confirmed")
        #expect(unconfirmed.status == 74, "\(unconfirmed.errors)")
        #expect(try unconfirmed.objects().first?["event"] == .text("message"))
        for event in ["message", "nothing"] {
            let next = try await run()
            #expect(try next.objects().first?["event"] == .text(event), "\(next.errors)")
        }
    }

    @Test("A message that does not come is a timeout with status 1")
    func timeout() async throws {
        let ended = try await program.run(arguments("--timeout-ms", "100"))
        #expect(ended.status == 1)
        #expect(try ended.objects().first?["event"] == .text("timeout"))
    }

    @Test(
        "Wrong usage ends with status 64 and one line",
        arguments: [
            [], ["--timeout-ms"], ["--bogus"], ["--timeout-ms", "soon"], ["--timeout-ms", "-1"],
            ["--timeout-ms", "1", "--directory", "relative"], ["--timeout-ms", "1", "--call-id", ""],
            ["--timeout-ms", "1", "--on-handover-timeout", "shrug"], ["--timeout-ms", "1", "--durability", "memory"],
        ])
    func usage(more: [String]) async throws {
        let ended = try await program.run(arguments() + more)
        #expect(ended.status == 64)
        #expect(ended.output.isEmpty && ended.errors.split(separator: "\n").count == 1)
    }

    @Test("--help lists the options, each of which is one, with status 0")
    func help() async throws {
        let ended = try await program.run("--help")
        #expect(ended.status == 0 && ended.errors.isEmpty)
        let options = ended.output.split(separator: "\n").filter { $0.hasPrefix("  --") }
        #expect(options.count == 22)
        for option in options.compactMap({ $0.split(separator: " ").first }) {
            let used = try await program.run(arguments() + [String(option)])
            #expect(!used.errors.contains("is not an option"), "\(option)")
        }
    }

    @Test("A group that cannot be used is told by status and one line")
    func forbidden() async throws {
        try program.makeDirectory("group")
        let opened = try await program.shell("chmod 777 group")
        #expect(opened.status == 0)
        let ended = try await program.run(arguments("--timeout-ms", "100"))
        #expect(ended.status == 78)
        #expect(ended.errors.contains(program.directory.path(of: "group")))
        #expect(ended.errors.split(separator: "\n").count == 1)
    }

    @Test("After SIGTERM the program releases its ownership and ends with status 1", arguments: [2, 15])
    func signals(number: Int32) async throws {
        let host = HostProgram(named: "sharedcore", in: program.directory)
        // The core of this Executor runs for as long as a busy machine needs to observe it.
        let ended = try await program.running(arguments("--timeout-ms", "200000", "--budget-ms", "3600000")) {
            running in
            try await eventually("it owns and runs its core", timeout: TestTimeout.long) {
                let status = try await host.run(
                    "status", "--json", "--state-directory", program.directory.path, "--group", "group")
                guard case .object(let owner) = try status.objects().first?["owner"] else { return false }
                return owner["state"] == .text("running")
            }
            try running.send(Signal(rawValue: number))
        }
        #expect(ended.status == 1 && ended.errors.contains("interrupted"))
        let told = try await host.run(
            "timeline", "--json", "--state-directory", program.directory.path, "--group", "group")
        #expect(try told.objects().last?["event"] == .text("released"))
    }
}
