internal import BackendRegistry
internal import Coordination
internal import CoreAPI
internal import Glibc
internal import InMemoryBackend
internal import Platform
internal import SharedCoreConfiguration
internal import TestSupport
internal import Testing

/// An application beside the programs reads the same configuration.
@Suite("A group by configuration (decision 37)")
struct ConfiguredGroupTests {
    /// A configuration as an application and a command receive it.
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// By their paths in the directory that both are called in.
        var files: [String: String] = [:]
        var environment: [String: String] = [:]
        /// The settings that have a flag.
        var values: [String: String] = [:]
    }

    private static let personal = "config/sharedcore/config.yaml"

    private static let cases = [
        Case(testDescription: "nothing"),
        Case(
            testDescription: "the user's file",
            files: [personal: "group: users\nhandover: {timeout: 700ms, onTimeout: fence}\ninbox.lifetime: 1h\n"]),
        Case(
            testDescription: "a file that is named by the environment, with a relative path",
            files: [
                personal: "group: users", "sub/c.json": #"{"stateDirectory": "groups", "executor": {"budget": 7}}"#,
            ],
            environment: ["SHAREDCORE_CONFIG": "sub/c.json"]),
        Case(
            testDescription: "the environment before the file, values before both",
            files: [personal: "group: users\ndurability: disk\nstateDirectory: ~/here\n"],
            environment: ["SHAREDCORE_GROUP": "variable", "SHAREDCORE_HANDOVER_TIMEOUT": "2s"],
            values: ["group": "given", "stateDirectory": "a/../b"]),
        Case(
            testDescription: "empty variables", files: [personal: "group: users"],
            environment: ["SHAREDCORE_GROUP": "", "SHAREDCORE_CONFIG": ""]),
        Case(
            testDescription: "a hub at its usual place", environment: ["SHAREDCORE_BACKEND": "zmq"],
            values: ["durability": "disk"]),
        Case(
            testDescription: "a hub in the directory of the system", files: [personal: "backend: zmq\n"],
            environment: ["XDG_RUNTIME_DIR": "/run/user/1"]),
        Case(
            testDescription: "a hub at a port, with keys",
            files: [
                personal: """
                backend: zmq
                zmq: {endpoint: "tcp://192.0.2.1:5555", secretKey: own.key, hubKey: its, hub: none, lease: 9s}
                """
            ]),
        Case(
            testDescription: "keys of the host and of cores",
            files: [personal: "executor: {limit: 3, memory: none}\npush.routes: call=main\nmain: {command: /bin/x}\n"]),
    ]

    /// The fields that an application and `config show` have in common.
    private static let common = [
        "backend", "group", "stateDirectory", "durability", "handover.timeout", "handover.maximumTimeout",
        "handover.onTimeout", "executor.budget", "inbox.lifetime",
    ]

    private static func application(in program: HostProgram) -> HostProgram {
        var application = HostProgram(named: "sharedcore-test-configured", in: program.directory)
        application.environment = program.environment
        return application
    }

    /// The lines of the application, by their first word.
    private static func fields(_ ended: HostProgram.Ended) -> [String: String] {
        var fields: [String: String] = [:]
        for line in ended.output.split(separator: "\n") {
            let parts = line.split(separator: " ", maxSplits: 1)
            fields[String(parts[0])] = parts.count == 2 ? String(parts[1]) : ""
        }
        return fields
    }

    @Test("E2: an application reads what config show prints, but for a file of the working directory", arguments: cases)
    func table(_ given: Case) async throws {
        var program = try HostProgram()
        program.environment = given.environment
        for directory in ["config/sharedcore", "sub"] { try program.makeDirectory(directory) }
        for (path, content) in given.files { try program.write(content, to: path) }
        let flags = given.values.flatMap { key, text in
            [key == "stateDirectory" ? "--state-directory" : "--" + key, text]
        }
        let rows = try await program.run(["--json", "config", "show"] + flags).objects()
        // Only the command reads it.
        try program.write("group: trap\nbackend: etcd\n", to: "sharedcore.yaml")
        let read = try await Self.application(in: program).run(["read"] + given.values.map { "\($0)=\($1)" })
        #expect(read.status == 0, "\(read.output)")
        let fields = Self.fields(read)

        func shown(_ key: String) -> String? {
            guard case .text(let text)? = rows.first(where: { $0["key"] == .text(key) })?["value"] else { return nil }
            return text
        }
        for key in Self.common {
            let (text, found) = (try #require(shown(key)), try #require(fields[key]))
            #expect(found == text || DurationText.parse(found) == DurationText.parse(text), "\(key): \(found) \(text)")
        }
        #expect(fields["directory"] == shown("stateDirectory").map { $0 + "/" + (shown("group") ?? "") })
        for key in fields.keys where key.hasPrefix("zmq.") { #expect(fields[key] == shown(key), "\(key)") }
        #expect((fields["zmq.endpoint"] != nil) == (fields["backend"] == "zmq"))
    }

    private static let wrong: [(arguments: [String], file: String, variable: String, error: String)] = [
        (["backned=file"], "", "", #"error invalidArgument [values["backned"]]"#),
        (["group="], "", "", #"error invalidArgument [values["group"]]"#),
        (["group=a/b"], "", "", #"error invalidArgument [values["group"]]"#),
        (["dir=x"], "", "", "it is “stateDirectory” now"),
        (["redis.url=x"], "", "", #"error invalidArgument [values["redis.url"]]"#),
        ([], "", "SHAREDCORE_BACKEND=redis", "error invalidArgument [SHAREDCORE_BACKEND]"),
        ([], "", "SHAREDCORE_DIR=x", "set SHAREDCORE_STATE_DIRECTORY in its place"),
        ([], "", "SHAREDCORE_PUSH_CAPACITY=many", "error invalidArgument [SHAREDCORE_PUSH_CAPACITY]"),
        ([], "group: a\n\n  backend: b", "", "error invalidArgument [named.yaml:3:"),
        ([], "grop: a", "", "error invalidArgument [named.yaml:1:1] unknown key “grop”; did you mean “group”?"),
        ([], "redis: {url: x}", "", "error invalidArgument [named.yaml:1:1]"),
        (["--file", "absent.yaml"], "", "", "error invalidArgument [file]"),
        ([], "", "SHAREDCORE_CONFIG=absent.yaml", "error invalidArgument [SHAREDCORE_CONFIG]"),
        (["handover.timeout=9s"], "", "", #"error invalidArgument [values["handover.timeout"]]"#),
    ]

    @Test("E1: what is wrong has a code, its place and what would be right", arguments: wrong.indices)
    func refusal(index: Int) async throws {
        let wrong = Self.wrong[index]
        var program = try HostProgram(named: "sharedcore-test-configured")
        if !wrong.variable.isEmpty {
            let parts = wrong.variable.split(separator: "=")
            program.environment[String(parts[0])] = String(parts[1])
        }
        if !wrong.file.isEmpty { try program.write(wrong.file, to: "named.yaml") }
        let ended = try await program.run(
            ["read"] + wrong.arguments + (wrong.file.isEmpty ? [] : ["--file", "named.yaml"]))
        #expect(ended.status == 1 && ended.output.contains(wrong.error), "\(ended.output)")
    }

    @Test("E2: a file that others may write, or that may keep its reader waiting, is refused at once")
    func untrusted() async throws {
        for (change, error) in [
            ("chmod o+w c.yaml", "error forbidden [c.yaml]"),
            ("rm c.yaml; mkfifo c.yaml", "error invalidArgument [c.yaml] is not a regular file"),
        ] {
            let program = try HostProgram()
            try program.write("group: theirs\n", to: "c.yaml")
            let ended = try await program.shell("\(change); timeout 20 sharedcore-test-configured read --file c.yaml")
            #expect(ended.status == 1 && ended.output.contains(error), "\(ended.output)")
        }
    }

    @Test("/dev/null reads no file")
    func noFile() async throws {
        let program = try HostProgram()
        try program.makeDirectory("config/sharedcore")
        try program.write("group: users", to: Self.personal)
        let ended = try await Self.application(in: program).run("read", "--file", "/dev/null")
        #expect(Self.fields(ended)["group"] == "default", "\(ended.output)")
    }

    @Test(
        "A process with more rights than its caller reads neither the environment nor the user's file",
        .enabled(if: getuid() == 0, "it takes root to give a program another group's rights"))
    func moreRights() async throws {
        let program = try HostProgram()
        try program.makeDirectory("config/sharedcore")
        try program.write("group: users", to: Self.personal)
        for (mode, group, status) in [("755", "users", 0), ("2755", "default", 0)] {
            let ended = try await program.shell(
                """
                export SHAREDCORE_DURABILITY=disk
                cp "$(command -v sharedcore-test-configured)" own; chgrp 65534 own; chmod \(mode) own
                ./own read stateDirectory=/groups
                """)
            let fields = Self.fields(ended)
            #expect(ended.status == Int32(status), "\(ended.output) \(ended.errors)")
            #expect(fields["group"] == group && fields["durability"] == (mode == "755" ? "disk" : "process"), "\(mode)")
        }
    }

    @Test("memory opens in a registry that the caller gives, and asks no durability of it")
    func memory() async throws {
        let configured = try await ConfiguredGroup.read(
            ["backend": "memory", "durability": "disk", "stateDirectory": "/groups"], file: "/dev/null")
        #expect(configured.directory == nil && configured.backend.durability == nil)
        let refused = await #expect(throws: SharedCoreError.self) { try await configured.open() }
        #expect(refused?.code == .unsupported && refused?.location == #"values["backend"]"#)
        let registry = BackendRegistry.bundled()
        let group = try await configured.open(in: registry)
        try await group.put("key", [1])
        #expect(try await configured.openToRead(in: registry).get("key")?.value == [1])
        await group.close()
    }

    /// Opens groups in memory under another backend name, and keeps the configuration that it received.
    private struct OwnFactory: BackendFactory {
        let name = "redis"
        let memory = MemoryFactory()

        func open(
            _ configuration: BackendConfiguration, as description: SessionDescription
        ) async throws(SharedCoreError) -> any SharedGroup {
            guard configuration.settings == ["redis.url": "redis://here"] else {
                throw SharedCoreError(.invalidArgument, "\(configuration.settings)", at: "redis")
            }
            return try await memory.open(configuration, as: description)
        }
    }

    @Test("A backend of one's own is named in values, with its keys, which reach it")
    func own() async throws {
        let configured = try await ConfiguredGroup.read(
            ["backend": "redis", "redis.url": "redis://here", "group": "mine", "stateDirectory": "/groups"],
            file: "/dev/null")
        #expect(configured.backend.group == "mine" && configured.backend.durability == nil)
        #expect(configured.directory == "/groups/mine")
        let empty = await #expect(throws: SharedCoreError.self) {
            try await ConfiguredGroup.read(["backend": "redis", "redis.url": "", "stateDirectory": "/groups"])
        }
        #expect(empty?.code == .invalidArgument && empty?.location == #"values["redis.url"]"#)
        var registry = BackendRegistry()
        registry.register(OwnFactory())
        await (try configured.open(in: registry)).close()
        let refused = await #expect(throws: SharedCoreError.self) { try await configured.open() }
        #expect(refused?.code == .unsupported && refused?.location == #"values["backend"]"#)
    }

    @Test("A group of files is opened by an application and a command alike; a reader makes none")
    func files() async throws {
        let program = try HostProgram()
        let application = Self.application(in: program)
        let absent = try await application.run("get", "key")
        #expect(absent.status == 1 && absent.output.contains("error unavailable"), "\(absent.output)")
        #expect(try await application.run("put", "key", "value").output == "done\n")
        #expect(try await program.run("store", "get", "key").output == "value")
        #expect(try await application.run("get", "key").output == "value\n")
    }
}
