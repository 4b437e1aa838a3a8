internal import TestSupport
internal import Testing

@Suite("The config commands")
struct ConfigCommandTests {
    @Test("config show prints every setting as key, value, source and origin")
    func show() async throws {
        var program = try HostProgram()
        try program.write("handover:\n  timeout: 300ms\n", to: "sharedcore.yaml")
        program.environment["SHAREDCORE_EXECUTOR_BUDGET"] = "20s"
        let rows = try await program.run("--json", "config", "show", "--group", "chat").objects()
        let help = try await program.run("help", "settings").output
        let described = help.split(separator: "\n").filter { $0.contains("default:") }
        #expect(rows.count == described.count && Set(rows.map { $0["key"] }).count == rows.count)
        #expect(rows.allSatisfy { Set($0.keys) == ["key", "value", "source", "origin"] })
        #expect(
            rows.contains([
                "key": .text("handover.timeout"), "value": .text("300ms"), "source": .text("file"),
                "origin": .text("sharedcore.yaml:2:12"),
            ]))
        #expect(
            rows.contains([
                "key": .text("executor.budget"), "value": .text("20s"), "source": .text("environment"),
                "origin": .text("SHAREDCORE_EXECUTOR_BUDGET"),
            ]))
        #expect(
            rows.contains([
                "key": .text("group"), "value": .text("chat"), "source": .text("flag"), "origin": .text("--group"),
            ]))
        #expect(
            rows.contains([
                "key": .text("backend"), "value": .text("file"), "source": .text("default"),
                "origin": .text("default"),
            ]))
    }

    @Test(
        "A durability that is not set is the backend's",
        arguments: [
            (["BACKEND": "file"], "process"), (["BACKEND": "memory"], "memory"), (["BACKEND": "zmq"], "process"),
            (["BACKEND": "zmq", "ZMQ_STORAGE": "memory"], "memory"),
            (["BACKEND": "memory", "DURABILITY": "disk"], "disk"),
        ])
    func durability(variables: [String: String], durability: String) async throws {
        var program = try HostProgram()
        for (name, value) in variables { program.environment["SHAREDCORE_" + name] = value }
        let ended = try await program.run("config", "get", "durability")
        #expect(ended.output == durability + "\n", "\(ended.errors)")
    }

    @Test("The file is --config, else SHAREDCORE_CONFIG, else sharedcore.yaml here, else the user's")
    func search() async throws {
        var program = try HostProgram()
        func group() async throws -> JSONField? {
            try await program.run("config", "show", "--json").objects().first { $0["key"] == .text("group") }?["value"]
        }
        try program.makeDirectory("config/sharedcore")
        try program.write("group: users", to: "config/sharedcore/config.yaml")
        #expect(try await group() == .text("users"))
        try program.write("group: here", to: "sharedcore.yaml")
        #expect(try await group() == .text("here"))
        try program.write("group: variable", to: "v.json")
        program.environment["SHAREDCORE_CONFIG"] = "v.json"
        #expect(try await group() == .text("variable"))
        try program.write("{\"group\": \"flag\"}", to: "f.json")
        let rows = try await program.run("config", "show", "--json", "--config", "f.json").objects()
        #expect(rows.contains { $0["key"] == .text("group") && $0["value"] == .text("flag") })
    }

    @Test("config validate says that the configuration is right, and which file it read")
    func validate() async throws {
        let program = try HostProgram()
        try program.write("backend: memory", to: "sharedcore.yaml")
        let ended = try await program.run("config", "validate", "--json")
        #expect(ended.status == 0)
        #expect(try ended.objects() == [["event": .text("valid"), "file": .text("sharedcore.yaml")]])
    }

    @Test(
        "config validate refuses what a host or a hub would refuse",
        arguments: [
            ("executor:\n  warning: 40s\n", "executor.warning"), ("executor:\n  memory: 24\n", "executor.memory"),
            ("executor:\n  command: sh -c 'echo {id}'\n", "executor.command"),
            ("executor:\n  command: absent-program {id}\n", "executor.command: “absent-program” was not found"),
            ("core:\n  command: pythn3 core.py\n", "sharedcore.yaml:2:12: core.command: “pythn3” was not found"),
            ("main:\n  command: /etc/passwd\n", "main.command: “/etc/passwd” cannot be executed"),
            ("zmq:\n  clientMemory: 25MiB\n", "zmq.clientMemory"), ("zmq:\n  clientMemory: none\n", "zmq.clientMemory"),
            ("zmq:\n  endpoint: nowhere\n", "sharedcore.yaml:2:13: zmq.endpoint"),
            ("zmq:\n  endpoint: inproc://x\n", "sharedcore.yaml:2:13: zmq.endpoint"),
            ("zmq:\n  hubKey: short\n", "sharedcore.yaml:2:11: zmq.hubKey"),
            ("zmq:\n  secretKey: absent\n", "sharedcore.yaml:2:14: zmq.secretKey"),
            ("zmq:\n  clientKeys: absent\n", "sharedcore.yaml:2:15: zmq.clientKeys"),
            ("zmq:\n  endpoint: nowhere\n  hubKey: short\n", "sharedcore.yaml:3:11: zmq.hubKey"),
        ])
    func refused(content: String, setting: String) async throws {
        let program = try HostProgram()
        try program.write(content, to: "sharedcore.yaml")
        let ended = try await program.run("config", "validate")
        #expect(ended.status == 78 && ended.errors.contains(setting), "\(ended.errors)")
    }

    @Test("config validate tells of every mistake, each once, in a line with its place")
    func allMistakes() async throws {
        var program = try HostProgram()
        try program.write(
            "grup: a\nhandover: {timeout: soon}\nexecutor: {warning: 40s, limit: 0}\n", to: "sharedcore.yaml")
        program.environment["SHAREDCORE_DIR"] = "groups"
        program.environment["SHAREDCORE_BACKEND"] = "flie"
        let ended = try await program.run("config", "validate", "--log-level", "error")
        #expect(ended.status == 78 && ended.output.isEmpty)
        let lines = ended.errors.split(separator: "\n")
        let parts = [
            "SHAREDCORE_DIR is not read", "sharedcore.yaml:1:1: unknown key “grup”",
            "sharedcore.yaml:2:21: handover.timeout is “soon”", "sharedcore.yaml:3:33: executor.limit is “0”",
            "SHAREDCORE_BACKEND: backend is “flie”", "sharedcore.yaml:3:21: executor.warning is “40s”",
        ]
        #expect(lines.count == parts.count, "\(ended.errors)")
        for part in parts { #expect(lines.count { $0.contains(part) } == 1, "\(part): \(ended.errors)") }
        // Every other command ends with the first one.
        #expect(
            try await program.run("config", "show", "--log-level", "error").errors.split(separator: "\n").count == 1)
    }

    @Test("config validate --json prints a line for each mistake, with the code, the place and the sentence")
    func mistakesInJSON() async throws {
        var program = try HostProgram()
        try program.write("grup: a\nzmq: {secretKey: open.key, endpoint: nowhere}\n", to: "sharedcore.yaml")
        try program.write("", to: "open.key")
        program.environment["SHAREDCORE_GRUOP"] = "a"
        let ended = try await program.run("config", "validate", "--json")
        #expect(ended.status == 78 && ended.errors.isEmpty, "\(ended)")
        let mistakes = try ended.objects()
        #expect(mistakes.allSatisfy { Set($0.keys) == ["event", "code", "place", "message"] }, "\(ended.output)")
        #expect(mistakes.allSatisfy { $0["event"] == .text("mistake") })
        let found = mistakes.map { [$0["place"], $0["code"]] }
        let expected: [[JSONField?]] = [
            [.null, .text("invalidArgument")], [.text("sharedcore.yaml:1:1"), .text("invalidArgument")],
            [.text("sharedcore.yaml:2:18"), .text("forbidden")],
            [.text("sharedcore.yaml:2:38"), .text("invalidArgument")],
        ]
        #expect(Set(found) == Set(expected) && found.count == expected.count, "\(ended.output)")
        let message = "unknown variable SHAREDCORE_GRUOP; did you mean “SHAREDCORE_GROUP”?"
        #expect(mistakes.first?["message"] == .text(message))
    }

    @Test("config get prints one value in force, with its place in JSON, and proposes a key for one that is none")
    func get() async throws {
        let program = try HostProgram()
        try program.write("handover: {timeout: 300ms}\n", to: "sharedcore.yaml")
        #expect(try await program.run("config", "get", "handover.timeout").output == "300ms\n")
        #expect(
            try await program.run("config", "get", "handover.timeout", "--json").objects() == [
                [
                    "key": .text("handover.timeout"), "value": .text("300ms"), "source": .text("file"),
                    "origin": .text("sharedcore.yaml:1:21"),
                ]
            ])
        #expect(
            try await program.run("config", "get", "stateDirectory").output
                == program.directory.path(of: "state/sharedcore") + "\n")
        let wrong = try await program.run("config", "get", "handover.timout")
        #expect(wrong.status == 64 && wrong.output.isEmpty && wrong.errors.contains("did you mean “handover.timeout”?"))
    }

    @Test("config show is no wider than its terminal")
    func narrow() async throws {
        let shell = try await HostProgram().shell(
            "script -qec 'stty cols 60; sharedcore config show' /dev/null")
        let lines = shell.output.split(whereSeparator: \.isNewline)
        #expect(lines.count > 60)
        // The path of the test's directory has no place to break it.
        for line in lines where line.count > 60 { #expect(line.split(separator: " ").count == 1, "\(line)") }
        #expect(lines.contains { $0.hasPrefix("group ") && $0.hasSuffix(" default  default") })
    }

    @Test("Global options stand before or after the command")
    func placement() async throws {
        let program = try HostProgram()
        let before = try await program.run("--json", "--group", "a", "config", "show")
        let between = try await program.run("config", "--json", "--group", "a", "show")
        let after = try await program.run("config", "show", "--json", "--group", "a")
        #expect(before.status == 0 && before.output == between.output && before.output == after.output)
        #expect(before.output.contains("\"a\""))
    }
}
