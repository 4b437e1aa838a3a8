internal import Subprocess
internal import Testing

/// The shared dictionary at the shell, each command a process of its own on the file backend.
@Suite("The store commands")
struct StoreCommandTests {
    @Test("A value that one process has put is read by another, with the fields that scripts rely on")
    func roundTrip() async throws {
        let program = try HostProgram()
        let put = try await program.run("store", "put", "a/b", "größe", "--json")
        #expect(put.status == 0)
        let revision = try #require(try put.objects().first?["revision"])
        #expect(try put.objects() == [["key": .text("a/b"), "revision": revision]])
        let got = try await program.run("store", "get", "a/b", "--json")
        #expect(got.status == 0)
        #expect(try got.objects() == [["key": .text("a/b"), "value": .text("größe"), "revision": revision]])
        #expect(try await program.run("store", "get", "a/b").output == "größe")
    }

    @Test("A value that is no text is Base64 in JSON and its own bytes otherwise")
    func bytes() async throws {
        let program = try HostProgram()
        try program.write(bytes: [0xff, 0x00, 0x0a, 0x41], to: "value")
        let shell = try await program.shell("sharedcore store put k - < value && sharedcore store get k | od -An -tx1")
        #expect(shell.output.split(separator: "\n").last.map(String.init) == " ff 00 0a 41")
        let got = try await program.run("store", "get", "k", "--json")
        #expect(try got.objects().first?["valueBase64"] == .text("/wAKQQ=="))
        #expect(try got.objects().first?["value"] == nil)
    }

    @Test("On a terminal, a value ends with a line feed")
    func terminal() async throws {
        let program = try HostProgram()
        _ = try await program.run("store", "put", "k", "v")
        // script(1) gives the command a terminal.
        let shell = try await program.shell("script -qec 'sharedcore store get k' /dev/null | od -An -tx1")
        #expect(shell.output.split(separator: "\n").last.map(String.init) == " 76 0d 0a")
    }

    @Test("Empty, absent and deleted are three different things (contract S1)")
    func absence() async throws {
        let program = try HostProgram()
        #expect(try await program.run("store", "put", "other", "").status == 0)
        let absent = try await program.run("store", "get", "k")
        #expect(absent.status == 1 && absent.output.isEmpty && absent.errors.contains("“k”"))
        #expect(try await program.run("store", "put", "k", "").status == 0)
        let empty = try await program.run("store", "get", "k")
        #expect(empty.status == 0 && empty.output.isEmpty)
        #expect(try await program.run("store", "delete", "k", "--json").objects().first?["changed"] == .flag(true))
        #expect(try await program.run("store", "get", "k").status == 1)
        let again = try await program.run("store", "delete", "k", "--json")
        #expect(again.status == 0)
        #expect(try again.objects().first?["changed"] == .flag(false))
    }

    @Test("A condition that does not hold is status 1 and changes nothing (contract S5)")
    func conditions() async throws {
        let program = try HostProgram()
        let first = try await program.run("store", "put", "k", "1", "--if-absent", "--json")
        guard case .number(let revision) = try first.objects().first?["revision"] else {
            Issue.record("no revision: \(first)")
            return
        }
        let refused = try await program.run("store", "put", "k", "2", "--if-absent")
        #expect(refused.status == 1 && refused.errors.contains("revision \(revision)"))
        #expect(try await program.run("store", "put", "k", "2", "--if-revision", "\(revision + 1000)").status == 1)
        #expect(try await program.run("store", "get", "k").output == "1")
        #expect(try await program.run("store", "put", "k", "2", "--if-revision", "\(revision)").status == 0)
        #expect(try await program.run("store", "get", "k").output == "2")
    }

    @Test("list selects a path and what lies under it (contract S4)")
    func prefixes() async throws {
        let program = try HostProgram()
        for key in ["a/b", "a/bc", "a/b/c", "z"] { _ = try await program.run("store", "put", key, "v") }
        func keys(_ arguments: String...) async throws -> [JSONField?] {
            try await program.run(["store", "list", "--json"] + arguments).objects().map { $0["key"] }
        }
        #expect(try await keys() == [.text("a/b"), .text("a/b/c"), .text("a/bc"), .text("z")])
        #expect(try await keys("a/b") == [.text("a/b"), .text("a/b/c")])
        #expect(try await keys("a/b/") == [.text("a/b/c")])
        #expect(try await keys("nothing") == [])
        #expect(try await program.run("store", "list", "z").output == "z\tv\n")
    }

    @Test("The coordination's own keys are hidden unless asked for, and written by no other program")
    func reserved() async throws {
        let program = try HostProgram()
        // A Main leaves its timeline there.
        _ = try await program.running("main", "--json") {
            try await $0.untilOutput(has: 1)
            try $0.send(.terminate)
        }
        #expect(try await program.run("store", "list", "--json").objects().isEmpty)
        #expect(try await !program.run("store", "list", "--json", "--all").objects().isEmpty)
        #expect(try await !program.run("store", "list", "--json", ".sharedcore/timeline").objects().isEmpty)
        for arguments in [["put", ".sharedcore/x", "v"], ["delete", ".sharedcore"]] {
            #expect(try await program.run(["store"] + arguments).status == 64)
        }
        #expect(try await program.run("store", "put", ".sharedcoreless", "v").status == 0)
    }

    @Test("An entry with a lifetime goes by itself (contract S8)")
    func lifetime() async throws {
        let program = try HostProgram()
        let ended = try await program.running("store", "watch", "--json", "--count", "2", "--log-level", "info") {
            try await $0.untilErrors(contain: "watching")
            _ = try await program.run("store", "put", "k", "v", "--ttl", "300ms")
            try await $0.untilOutput(has: 2)
        }
        #expect(try ended.objects().map { $0["kind"] } == [.text("put"), .text("expired")])
        #expect(try await program.run("store", "get", "k").status == 1)
    }

    @Test("watch prints each change with the fields that scripts rely on, and ends after the wanted number")
    func watch() async throws {
        let program = try HostProgram()
        let ended = try await program.running(
            "store", "watch", "a", "--json", "--count", "2", "--log-level", "info"
        ) {
            try await $0.untilErrors(contain: "watching")
            _ = try await program.run("store", "put", "other", "v")
            _ = try await program.run("store", "put", "a/1", "one")
            _ = try await program.run("store", "delete", "a/1")
        }
        #expect(ended.status == 0)
        let lines = try ended.objects()
        #expect(lines.allSatisfy { Set($0.keys) == ["kind", "key", "value", "revision"] })
        #expect(lines.map { $0["kind"] } == [.text("put"), .text("deleted")])
        #expect(lines.map { $0["key"] } == [.text("a/1"), .text("a/1")])
        #expect(lines.map { $0["value"] } == [.text("one"), .null])
    }

    @Test(
        "A command that prints what comes ends when its reader has gone, though nothing comes",
        arguments: [
            "watch", "store watch", "notify observe n", "mailbox listen m",
            "calls watch",
        ])
    func readerGone(command: String) async throws {
        let ended = try await HostProgram().shell("sharedcore \(command) | true; echo ${PIPESTATUS[0]}")
        #expect(ended.output == "0\n" && ended.errors.isEmpty, "\(ended)")
    }

    @Test("The verbs beside the groups are the commands of the groups")
    func verbs() async throws {
        let program = try HostProgram()
        #expect(try await program.run("set", "a/b", "1", "--json").objects().first?["key"] == .text("a/b"))
        #expect(try await program.run("set", "a/b", "2", "--if-absent").status == 1)
        #expect(try await program.run("get", "a/b").output == "1")
        #expect(try await program.run("ls", "a").output == program.run("store", "list", "a").output)
        #expect(try await program.run("post", "n", "--state", "7").status == 0)
        #expect(try await program.run("notify", "state", "n").output == "state 7, posted 1 time\n")
        #expect(try await program.run("del", "a/b").status == 0)
        #expect(try await program.run("watch", "a", "--from", "0", "--count", "1").output.contains("\ta/b"))
        // There, too, bytes are taken unchanged.
        let bytes = try await program.shell(#"sharedcore set k $'\xff' && sharedcore get k | od -An -tx1"#)
        #expect(bytes.output.hasSuffix(" ff\n"), "\(bytes)")
    }

    @Test("watch resumes from a revision (contract W2)")
    func resume() async throws {
        let program = try HostProgram()
        let put = try await program.run("store", "put", "a", "1", "--json")
        guard case .number(let revision) = try put.objects().first?["revision"] else {
            Issue.record("no revision: \(put)")
            return
        }
        _ = try await program.run("store", "put", "a", "2")
        _ = try await program.run("store", "put", "b", "3")
        let ended = try await program.run("store", "watch", "--from", "\(revision)", "--count", "2", "--json")
        #expect(try ended.objects().map { $0["value"] } == [.text("2"), .text("3")])
    }

    @Test("A key beyond its limit is wrong usage, and a value beyond it is refused by the group (contract S2, S10, E1)")
    func limits() async throws {
        let program = try HostProgram()
        #expect(try await program.run("store", "get", String(repeating: "k", count: 513)).status == 64)
        #expect(try await program.run("store", "get", "").status == 64)
        let large = String(repeating: "v", count: (1 << 20) + 1)
        let refused = try await program.run(["store", "put", "k", "-"], input: large)
        let limit = "A value of this group has at most \(1 << 20) bytes"
        #expect(
            refused.status == 69
                && refused.errors == "sharedcore: \(limit), and standard input has more. (code limitExceeded)\n",
            "\(refused)")
        #expect(try await program.run("store", "get", "k").status == 1)
    }

    @Test("Groups never see each other (contract S14, scenario 21)")
    func groups() async throws {
        let program = try HostProgram()
        _ = try await program.run("store", "put", "k", "one", "--group", "one")
        _ = try await program.run("store", "put", "k", "two", "--group", "two")
        #expect(try await program.run("store", "get", "k", "--group", "one").output == "one")
        #expect(try await program.run("--group", "two", "store", "get", "k").output == "two")
        #expect(try await program.run("store", "get", "k").status == 1)
    }

    @Test("disk durability is chosen by a flag (contract S10)")
    func durability() async throws {
        let program = try HostProgram()
        #expect(try await program.run("store", "put", "k", "v", "--durability", "disk").status == 0)
        #expect(try await program.run("store", "get", "k").output == "v")
    }
}
