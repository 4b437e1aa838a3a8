internal import BackendRegistry
internal import CoreAPI
internal import TestSupport
internal import Testing
internal import Wormholes

/// Mailboxes in a shell, each command in a process of its own.
@Suite("The mailbox commands")
struct MailboxCommandTests {
    private static let fields: Set<String> = ["kind", "id", "message", "revision", "origin"]

    @Test(
        "A message that is larger than a value only with its envelope is refused likewise",
        arguments: HostProgram.backends)
    func tooLargeInItsEnvelope(backend: String) async throws {
        try await HostProgram.using(backend) { program in
            let message = "\"" + String(repeating: "x", count: (1 << 20) - 2) + "\""
            for kind in [[], ["--queue"], ["--queue", "--capacity", "1"]] {
                let ended = try await program.run(["mailbox", "send", "a", "-"] + kind, input: message)
                #expect(ended.status == 69, "\(kind): \(ended)")
            }
            let largest = message.dropLast(100) + "\""
            let sent = try await program.run(["mailbox", "send", "a", "-", "--queue"], input: String(largest))
            #expect(sent.status == 0, "\(sent)")
        }
    }

    @Test(
        "A message that one process has sent is read by a later one, with the fields that scripts rely on",
        arguments: HostProgram.backends)
    func sendAndRead(backend: String) async throws {
        try await HostProgram.using(backend) { program in
            #expect(try await program.run("store", "put", "made", "1").status == 0)
            let none = try await program.run("mailbox", "read", "box", "--json")
            #expect(none.status == 1 && none.output.isEmpty && none.errors.contains("“box”"))
            _ = try await program.run("mailbox", "send", "box", "1")
            let sent = try await program.run(
                "mailbox", "send", "box", #"{"name": "größe", "list": [1, null]}"#, "--json")
            #expect(sent.status == 0)
            let receipt = try #require(try sent.objects().first)
            #expect(Set(receipt.keys) == ["id", "revision"] && receipt["id"] == .text("box"))
            let read = try await program.run("mailbox", "read", "box", "--json")
            #expect(read.status == 0)
            let line = try #require(try read.objects().first)
            #expect(Set(line.keys) == Self.fields && line["kind"] == .text("message") && line["id"] == .text("box"))
            #expect(line["revision"] == receipt["revision"])
            #expect(line["message"] == .object(["name": .text("größe"), "list": .array([.number(1), .null])]))
            guard case .text(let origin) = line["origin"], UInt64(origin) != nil else {
                Issue.record("the origin is the session's id as text: \(line)")
                return
            }
            let text = try await program.run("mailbox", "read", "box")
            #expect(text.output == "{\"name\": \"größe\", \"list\": [1, null]}\n")
        }
    }

    @Test("A listener in another process hears messages and clearings as they come", arguments: HostProgram.backends)
    func listen(backend: String) async throws {
        try await HostProgram.using(backend) { program in
            _ = try await program.run("mailbox", "send", "box", "0")
            let ended = try await program.running(
                "mailbox", "listen", "box", "--replay", "latest", "--count", "4", "--timeout", "200s", "--json",
                "--log-level", "info"
            ) {
                try await $0.untilErrors(contain: "listening")
                _ = try await program.run("mailbox", "send", "box", "1")
                _ = try await program.run("mailbox", "send", "box", "1")
                #expect(try await program.run("mailbox", "clear", "box").status == 0)
            }
            #expect(ended.status == 0)
            let lines = try ended.objects()
            #expect(lines.allSatisfy { Set($0.keys) == Self.fields })
            let kinds = ["message", "message", "message", "cleared"].map { JSONField.text($0) }
            #expect(lines.map { $0["kind"] } == kinds)
            #expect(lines.map { $0["message"] } == [.number(0), .number(1), .number(1), .null])
        }
    }

    @Test("A queue keeps all messages until each is taken, by one of the takers", arguments: HostProgram.backends)
    func take(backend: String) async throws {
        try await HostProgram.using(backend) { program in
            for number in 1...3 { _ = try await program.run("mailbox", "send", "jobs", "\(number)", "--queue") }
            let read = try await program.run("mailbox", "read", "jobs", "--queue", "--json")
            #expect(try read.objects().map { $0["message"] } == [.number(1), .number(2), .number(3)])
            #expect(try await program.run("mailbox", "take", "jobs").output == "1\n")
            let taken = try await program.run("mailbox", "take", "jobs", "--count", "5", "--json")
            #expect(taken.status == 0)
            #expect(try taken.objects().map { $0["message"] } == [.number(2), .number(3)])
            #expect(try taken.objects().allSatisfy { Set($0.keys) == Self.fields })
            #expect(try await program.run("mailbox", "take", "jobs").status == 1)
            let waited = try await program.running(
                "mailbox", "take", "jobs", "--timeout", "200s", "--json", "--log-level", "info"
            ) {
                try await $0.untilErrors(contain: "waiting")
                _ = try await program.run("mailbox", "send", "jobs", "4", "--queue")
            }
            #expect(waited.status == 0)
            #expect(try waited.objects().map { $0["message"] } == [.number(4)])
        }
    }

    @Test("A message that take cannot read is given back, with status 1, unless it is told to take it (contract M3)")
    func undecodable() async throws {
        let program = try HostProgram()
        _ = try await program.run("mailbox", "send", "jobs", "1", "--queue")
        // As a program that uses another codec sends it.
        let group = try await BackendRegistry.bundled().open(
            BackendConfiguration(
                backend: "file", group: "default", stateDirectory: program.directory.path(of: "state/sharedcore")))
        _ = try await Wormhole(group).send([2], to: QueueID("jobs", codec: .propertyList))
        await group.close()
        _ = try await program.run("mailbox", "send", "jobs", "3", "--queue")

        for first in ["1", nil] {
            let taken = try await program.run("mailbox", "take", "jobs", "--count", "3")
            #expect(taken.status == 1 && taken.errors.contains("was given back"))
            let lines = taken.output.split(separator: "\n")
            #expect(lines.dropLast() == (first.map { [Substring($0)] } ?? []))
            #expect(lines.last?.hasPrefix("undecodable") == true)
        }
        let taken = try await program.run("mailbox", "take", "jobs", "--count", "3", "--undecodable")
        #expect(taken.status == 0)
        #expect(taken.output.split(separator: "\n").map { $0.hasPrefix("undecodable") ? "" : $0 } == ["", "3"])
        #expect(try await program.run("mailbox", "take", "jobs").errors.contains("nothing"))
    }

    @Test("A full queue refuses with status 1, or drops its oldest and says how many", arguments: HostProgram.backends)
    func overflow(backend: String) async throws {
        try await HostProgram.using(backend) { program in
            for number in 1...2 {
                let sent = try await program.run("mailbox", "send", "jobs", "\(number)", "--queue", "--capacity", "2")
                #expect(sent.status == 0)
            }
            let refused = try await program.run("mailbox", "send", "jobs", "3", "--queue", "--capacity", "2", "--json")
            #expect(refused.status == 1 && refused.output.isEmpty)
            let made = try await program.run(
                "mailbox", "send", "jobs", "4", "--queue", "--capacity", "2", "--drop-oldest", "--json")
            let receipt = try #require(try made.objects().first)
            #expect(Set(receipt.keys) == ["id", "revision", "dropped"] && receipt["dropped"] == .number(1))
            #expect(try await program.run("mailbox", "read", "jobs", "--queue").output == "2\n4\n")
        }
    }

    @Test(
        "Clearing says whether there was anything; clear-all touches one wormhole's mailboxes only",
        arguments: HostProgram.backends
    )
    func clearAll(backend: String) async throws {
        try await HostProgram.using(backend) { program in
            _ = try await program.run("store", "put", "k", "v")
            for directory in [[], ["--directory", "other"]] {
                _ = try await program.run(["mailbox", "send", "a", "1"] + directory)
                _ = try await program.run(["mailbox", "send", "b", "1", "--queue"] + directory)
            }
            #expect(try await program.run("mailbox", "clear", "none").status == 1)
            let cleared = try await program.run("mailbox", "clear-all", "--json")
            #expect(cleared.status == 0)
            #expect(try cleared.objects() == [["cleared": .number(2)]])
            #expect(try await program.run("mailbox", "clear-all", "--json").objects() == [["cleared": .number(0)]])
            #expect(try await program.run("mailbox", "read", "a").status == 1)
            #expect(try await program.run("mailbox", "read", "b", "--queue").status == 1)
            #expect(try await program.run("mailbox", "read", "a", "--directory", "other").output == "1\n")
            #expect(try await program.run("store", "get", "k").output == "v")
            let one = try await program.run("mailbox", "clear", "b", "--queue", "--directory", "other", "--json")
            #expect(try one.objects() == [["id": .text("b"), "cleared": .flag(true)]])
        }
    }

    @Test("A message comes from standard input as well; line breaks in it do not break the lines of the output")
    func standardInput() async throws {
        let program = try HostProgram()
        let sent = try await program.run(["mailbox", "send", "box", "-"], input: "{\n  \"a\": \"b\\nc\"\r\n}\n")
        #expect(sent.status == 0)
        let read = try await program.run("mailbox", "read", "box", "--json")
        #expect(try read.objects().map { $0["message"] } == [.object(["a": .text("b\nc")])])
        #expect(try await program.run("mailbox", "read", "box").output.filter { $0 == "\n" }.count == 1)
    }

    @Test("A message that is too large is refused with the limit and its true size, from a queue too (contract S10)")
    func tooLarge() async throws {
        let program = try HostProgram()
        let limit = 1 << 20
        let message = "\"" + String(repeating: "m", count: limit - 2) + "\""
        let more = try await program.run(["mailbox", "send", "box", "-"], input: message + " ")
        let sentence = "sharedcore: A value of this group has at most \(limit) bytes, and standard input has more."
        #expect(more.status == 69 && more.errors == "\(sentence) (code limitExceeded)\n", "\(more.errors)")
        // With its envelope the record is larger than the message.
        for (arguments, name) in [([], "A value has"), (["--queue"], "A message has")] as [([String], String)] {
            let refused = try await program.run(["mailbox", "send", "box", "-"] + arguments, input: message)
            let found = try #require(refused.errors.firstMatch(of: /this one would have (\d+)/)?.output.1)
            #expect(refused.status == 69 && refused.errors.hasPrefix("sharedcore: \(name) at most \(limit) bytes"))
            #expect(try #require(Int(found)) > limit && refused.errors.hasSuffix(" (code limitExceeded)\n"))
        }
    }

    @Test(
        "A message that is not JSON is wrong usage and sends nothing",
        arguments: ["", "text", "{", "[1,]", "{\"a\":1}{}", "'a'", "nul", String(repeating: "[", count: 60_000)])
    func wrongJSON(text: String) async throws {
        let program = try HostProgram()
        let ended = try await program.run(["mailbox", "send", "box", "-"], input: text)
        #expect(ended.status == 64 && ended.output.isEmpty && !ended.errors.isEmpty)
        #expect(try await program.run("mailbox", "read", "box").status == 1)
    }

    @Test(
        "Wrong usage is status 64",
        arguments: [
            ["send", "box"], ["send", "box", "1", "--capacity", "2"], ["send", "box", "1", "--drop-oldest"],
            ["send", "box", "1", "--queue", "--capacity", "0"], ["send", "box", "1", "--queue", "--drop-oldest"],
            ["listen", "box", "--replay", "all"], ["listen", "box", "--count", "0"], ["take", "box", "--count", "0"],
            ["send", "box", "1", "--ttl", "soon"], ["clear"],
        ])
    func wrongUsage(arguments: [String]) async throws {
        #expect(try await HostProgram().run(["mailbox"] + arguments).status == 64)
    }

    @Test(
        "A hostile id is only a name, and never leaves the mailboxes' place",
        arguments: [
            "", "../../etc/passwd", "/", "%main", "a/value", "-", "😀\n\u{1b}[31m", String(repeating: "x", count: 9_000),
        ])
    func hostile(id: String) async throws {
        let program = try HostProgram()
        #expect(try await program.run("mailbox", "send", "a", "0").status == 0)
        for directory in [[], id.isEmpty ? ["--directory", ""] : ["--directory=" + id]] {
            #expect(try await program.run(["mailbox", "send"] + directory + ["--", id, "1"]).status == 0)
            #expect(try await program.run(["mailbox", "read"] + directory + ["--", id]).output == "1\n")
        }
        #expect(try await program.run("mailbox", "read", "a").output == "0\n")
        let keys = try await program.run("store", "list", "--all", "--json").objects().compactMap { $0["key"] }
        #expect(keys.count == 3)
        for case .text(let key) in keys { #expect(key.hasPrefix(".sharedcore/mailboxes/")) }
    }

    @Test("A listener that waits in vain is told by status 1")
    func timeout() async throws {
        let program = try HostProgram()
        for arguments in [["listen", "box"], ["take", "box"]] {
            let ended = try await program.run(["mailbox"] + arguments + ["--timeout", "100ms", "--json"])
            #expect(ended.status == 1 && ended.output.isEmpty && ended.errors.contains("timed out"))
        }
    }

    @Test("A message is kept for its lifetime, and a listener hears its end")
    func lifetime() async throws {
        let program = try HostProgram()
        let ended = try await program.running(
            "mailbox", "listen", "box", "--count", "2", "--timeout", "200s", "--json", "--log-level", "info"
        ) {
            try await $0.untilErrors(contain: "listening")
            _ = try await program.run("mailbox", "send", "box", "1", "--ttl", "300ms")
            try await $0.untilOutput(has: 2)
        }
        #expect(try ended.objects().map { $0["kind"] } == [.text("message"), .text("cleared")])
        #expect(try await program.run("mailbox", "read", "box").status == 1)
    }

    @Test("On a terminal, a message ends its line and shows no control characters")
    func terminal() async throws {
        let program = try HostProgram()
        _ = try await program.run(["mailbox", "send", "box", "-"], input: "\"a\u{7f}\u{85}b\"")
        let shell = try await program.shell("script -qec 'sharedcore mailbox read box' /dev/null | od -An -tx1")
        let bytes = shell.output.split { $0 == " " || $0 == "\n" }
        #expect(bytes.suffix(2) == ["0d", "0a"])
        #expect(!bytes.contains("7f") && !bytes.contains("85"))
    }
}
