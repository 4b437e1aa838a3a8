internal import ArgumentParser
internal import ProgramOutput
internal import Subprocess
internal import Testing

@testable internal import SharedCoreHost

@Suite("Wrong usage")
struct UsageTests {
    @Test(
        "Wrong usage ends with status 64 and says what is wrong",
        arguments: [
            ["stoer"], ["store", "get"], ["store", "get", "a", "b"], ["store", "get", "a", "--bogus"],
            ["store", "put", "a", "b", "--if-absent", "--if-revision", "1"],
            ["store", "put", "a", "b", "--ttl", "soon"],
            ["store", "watch", "--count", "0"], ["notify", "post", "a", "--state", "-1"],
            ["notify", "observe", "a", "--count", "0"], ["--log-level", "loud", "config", "show"],
        ])
    func usage(arguments: [String]) async throws {
        let ended = try await HostProgram().run(arguments)
        #expect(ended.status == 64)
        #expect(ended.output.isEmpty)
        #expect(ended.errors.hasPrefix("sharedcore: ") && !ended.errors.contains("Error: "), "\(ended.errors)")
        // The quotes of this message are those of all other messages.
        #expect(!ended.errors.contains("'"), "\(ended.errors)")
    }

    @Test(
        "A command's misspelt name is answered with the one that is near, a wrong duration with what is one",
        arguments: [
            (["stauts"], "did you mean “status”?"), (["--group", "a", "stoer", "get", "k"], "did you mean “store”?"),
            (["store", "gte", "k"], "did you mean “get”?"),
            (["config", "get", "push"], "unknown key “push”; it is a section, with the keys “push."),
            (["config", "get", "SHAREDCORE_GROUP"], "did you mean “group”?"), (["config", "get", "grop"], "“group”?"),
            (["store", "put", "a", "b", "--ttl", "5d"], "250ms, 1.5s, 2m or 1h"),
            (["notify", "observe", "a", "--timeout", "0"], "longer than zero"),
        ])
    func spelling(arguments: [String], advice: String) async throws {
        let ended = try await HostProgram().run(arguments)
        #expect(ended.status == 64)
        #expect(ended.errors.contains(advice), "\(ended.errors)")
    }

    @Test(
        "An unknown command is named, at the top and in a group, and a global option is proposed",
        arguments: [
            (["foo", "bar"], "sharedcore: no command is “foo”.\n"),
            (["store", "frobnicate"], "no command is “frobnicate”."),
            (["statsu"], "did you mean “status”?"), (["calls", "anwser"], "did you mean “answer”?"),
            (["delet", "k"], "did you mean “delete”?"), (["status", "--bakend", "file"], "did you mean “--backend”?"),
        ])
    func unknown(arguments: [String], message: String) async throws {
        let ended = try await HostProgram().run(arguments)
        #expect(ended.status == 64 && ended.output.isEmpty)
        #expect(ended.errors.contains(message) && ended.errors.contains("Usage: sharedcore"), "\(ended.errors)")
        #expect(!ended.errors.contains("nexpected argument"))
    }

    @Test(
        "Help for an unknown command is wrong usage",
        arguments: [
            (["help", "gett"], "no command is “gett”; did you mean “get”?"),
            (["gett", "--help"], "no command is “gett”; did you mean “get”?"),
            (["--group", "a", "gett", "-h"], "did you mean “get”?"),
            (["help", "store", "gte"], "did you mean “get”?"), (["store", "gte", "--help"], "did you mean “get”?"),
            (["help", "frobnicate"], "no command is “frobnicate”; “sharedcore --help” lists the commands.\n"),
            (["help", "store", "frobnicate"], "“frobnicate”; “sharedcore store --help” lists the commands.\n"),
            (["frobnicate", "--help"], "no command is “frobnicate”; “sharedcore --help” lists the commands.\n"),
            (["exclusvie", "--help"], "did you mean “exclusive”?"),
        ])
    func unknownHelp(arguments: [String], message: String) async throws {
        let ended = try await HostProgram().run(arguments)
        #expect(ended.status == 64 && ended.output.isEmpty, "\(ended)")
        #expect(ended.errors.contains(message), "\(ended.errors)")
    }

    @Test("executor says once that no message came")
    func absentMessage() async throws {
        let program = try HostProgram()
        let arguments = ["executor", "--call-id", "x", "--timeout", "300ms"]
        let ended = try await program.run(arguments)
        #expect(ended.status == 1, "\(ended)")
        #expect(ended.output.hasPrefix("No message “x” came before the deadline. The core fetches from the Maildir “/"))
        #expect(ended.output.hasSuffix("/Maildir” (core.maildir).\n"), "\(ended)")
        #expect(ended.errors.isEmpty, "\(ended)")
        // The line for programs has no sentence.
        let line = try await program.run(arguments + ["--json"])
        #expect(try line.status == 1 && line.objects().first?["event"] == .text("timeout"))
        #expect(line.errors == "sharedcore: No message “x” came before the deadline.\n")
    }

    @Test("executor names the owner from whose core a message would have come, and the option that ends the wait")
    func absentMessageOfAnotherOwner() async throws {
        let program = try HostProgram()
        _ = try await program.running("exclusive", "--", "sh", "-c", "echo runs; exec sleep 600") { owner in
            try await owner.untilOutput(has: 1)
            let ended = try await program.run("executor", "--call-id", "x", "--timeout", "3s")
            let sentence = "The Main “sh”, pid \(owner.pid), owns the core, so messages come from its core only.\n"
            #expect(ended.status == 1 && ended.output.hasSuffix(sentence), "\(ended)")
            try owner.send(.terminate)
        }
    }

    @Test(
        "push says what it has found in place of a valid value",
        arguments: [
            (["1", "--type", "A"], "this one has the character “A”."), (["1", "--type", ""], "this one is empty."),
            (["1", "--type", "ü"], "this one has the character U+00FC."),
            (["1", "--type", String(repeating: "a", count: 65)], "this one has 65 bytes."),
            (["1", "--account", "a\u{85}"], "this one has the control character U+0085."),
            (["1", "--account", String(repeating: "a", count: 257)], "this one has 257 bytes."),
            (["1", "--payload", "/proc/self/exe"], "“/proc/self/exe” has more."), ([""], "this one is empty."),
            ([" 1"], "this one begins or ends with a space."), (["1\n"], "has the control character U+000A."),
            ([String(repeating: "a", count: 999)], "this one has 999 bytes."),
            (["--list", "1"], "--list and the call-id “1” exclude each other."),
        ])
    func wrongPush(arguments: [String], found: String) async throws {
        let ended = try await HostProgram().run(["push"] + arguments)
        #expect(ended.status == 64 && ended.output.isEmpty)
        #expect(
            ended.errors.split(whereSeparator: \.isWhitespace).joined(separator: " ").contains(found), "\(ended.errors)"
        )
    }

    @Test("push says that no host serves, and only then")
    func pushWithoutHost() async throws {
        let program = try HostProgram()
        let waits = try await program.run("push", "1@x")
        #expect(waits.status == 0 && waits.output.hasSuffix("; no host serves yet (“sharedcore serve”).\n"), "\(waits)")
        try await ServingHost.serve(program) { host in
            let served = try await host.program.run("push", "2@x")
            #expect(served.status == 0 && served.output.hasPrefix("The push waits, as revision "), "\(served)")
            #expect(!served.output.contains("no host"), "\(served)")
        }
    }

    @Test("version prints the version alone, and in JSON the backends, whatever is configured")
    func version() async throws {
        var program = try HostProgram()
        program.environment["SHAREDCORE_CONFIG"] = "absent.yaml"
        let ended = try await program.run("version")
        #expect(ended.status == 0 && ended.output == "\(PackageVersion.text)\n" && ended.errors.isEmpty)
        #expect(try await program.run("--version").output == ended.output)
        let object = try #require(try await program.run("version", "--json").objects().first)
        guard case .array(let backends) = object["backends"] else {
            Issue.record("\(object)")
            return
        }
        #expect(object["version"] == .text(PackageVersion.text) && backends.contains(.text("file")))
        let full = try await program.shell("sharedcore version > /dev/full")
        #expect(full.status == 74 && full.errors.contains("standard output"))
    }

    @Test(
        "Help and version are no errors",
        arguments: [
            ["--help"], ["--version"], ["store", "put", "--help"], ["help"], ["help", "help"], ["help", "options"],
            ["help", "store", "get"], ["help", "ls"], ["get", "help", "--help"], ["calls", "--help"],
            ["exclusive", "--role", "main", "--help"],
        ])
    func help(arguments: [String]) async throws {
        let ended = try await HostProgram().run(arguments)
        #expect(ended.status == 0)
        #expect(!ended.output.isEmpty && ended.errors.isEmpty)
    }

    @Test(
        "A command that is parsed alone is the one that all commands give",
        arguments: [
            ["get", "k"], ["store", "get", "k", "--json"], ["--group", "a", "--json", "set", "k", "v", "--ttl", "3s"],
            ["--group", "a", "get", "k", "--group", "b"], ["store", "--state-directory=/s", "ls", "--all", "p"],
            ["notify", "--log-level", "debug", "post", "name", "--state", "7"], ["set", "k", "--", "-5"],
            ["exclusive", "--no-wait", "--", "program", "--json", "--version"], ["config", "get", "group"],
            ["push", "--list"], ["mailbox", "take", "name", "--timeout", "1s"],
        ])
    func alone(arguments: [String]) async throws {
        let alone = try #require(await SharedCoreCommand.parsedAlone(arguments))
        let among = try await SharedCoreCommand.asyncParseAsRoot(arguments)
        #expect("\(alone)" == "\(among)")
    }

    @Test(
        "A command line that the parser of one command refuses or answers goes to the parser of all commands",
        arguments: [
            ["get"], ["get", "k", "extra"], ["get", "k", "--unknown"], ["--unknown", "get", "k"], ["get", "--version"],
            ["get", "--help"], ["help", "get"], ["store"], ["--group"], ["--", "get", "k"], ["gett", "k"], [],
            ["---completion", "get", "k"], ["get", "--generate-completion-script", "bash"],
        ])
    func notAlone(arguments: [String]) async throws {
        #expect(await SharedCoreCommand.parsedAlone(arguments) == nil)
    }
}
