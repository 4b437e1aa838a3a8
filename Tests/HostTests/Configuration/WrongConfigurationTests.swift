internal import Testing

/// Scenario 39: one message that names the file, the key, the value found and a valid one.
@Suite("Wrong configurations (contract E2)")
struct WrongConfigurationTests {
    /// A file with a fault, and the texts that the message about it must contain.
    struct Fault: Sendable, CustomTestStringConvertible {
        let file: String
        let parts: [String]

        var testDescription: String { parts.joined(separator: " ") }
    }

    /// Keys that are aliases, each of which holds nine of the one before: the last one has nine to the power of the levels.
    private static func aliases(_ levels: Int) -> String {
        let lines = (1..<levels).map { level in
            "? &a\(level) {" + (0..<9).map { "? [\($0), *a\(level - 1)] : x" }.joined(separator: ", ") + "}\n: x"
        }
        return "? &a0 x\n: x\n" + lines.joined(separator: "\n")
    }

    @Test("An anchor that no alias names, and a text that looks like one, are no fault")
    func harmlessAnchors() async throws {
        let program = try HostProgram()
        try program.write("group: &g chat\nexecutor: {command: \"run '&a' *a\"} # &b *b\n", to: "c.yaml")
        let ended = try await program.run("--config", "c.yaml", "config", "show")
        #expect(ended.status == 0 && ended.output.contains("&a") && ended.output.contains("*a"), "\(ended.errors)")
    }

    @Test("A timeout of the hand-over beyond its maximum is refused, by all that hand over")
    func contradiction() async throws {
        let program = try HostProgram()
        try program.write("handover: {timeout: 6s}\n", to: "c.yaml")
        for arguments in [["config", "validate"], ["main"], ["executor", "--call-id", "1"]] {
            let ended = try await program.run(arguments + ["--config", "c.yaml"])
            #expect(ended.status == 78)
            expectOneLine(ended.errors)
            for part in ["c.yaml:1:21", "handover.timeout is 6s", "handover.maximumTimeout, which is 5s"] {
                #expect(ended.errors.contains(part), "\(ended.errors)")
            }
        }
    }

    @Test(
        "A wrong file ends every command with status 78 and one line that names place, key, finding and remedy",
        arguments: [
            Fault(
                file: "backend: flie",
                parts: ["c.yaml:1:10", "backend", "“flie”", "memory, file, zmq or etcd", "“file”?"]),
            Fault(file: "\nbakend: file", parts: ["c.yaml:2:1", "unknown key “bakend”", "“backend”?"]),
            Fault(
                file: "handover:\n  timout: 1s", parts: ["c.yaml:2:3", "“handover.timout”", "“handover.timeout”?"]),
            Fault(file: "timeout: 1s", parts: ["c.yaml:1:1", "“timeout”", "“handover.timeout”?"]),
            Fault(
                file: "serviceLevels:\n  presencePublish:\n    background: off",
                parts: ["c.yaml:3:17", "serviceLevels.presencePublish.background", "“off”", "normal, limited or none"]),
            Fault(
                file: "serviceLevels: {httpService: {background: none}}",
                parts: ["c.yaml:1:17", "“serviceLevels.httpService”", "“serviceLevels.httpServices”?"]),
            Fault(
                file: "serviceLevels.activeCall.background: none",
                parts: ["c.yaml:1:38", "serviceLevels.activeCall.background", "“none”", "normal"]),
            Fault(
                file: "serviceLevels: {httpServices: {suspended: normal}}",
                parts: ["c.yaml:1:32", "“serviceLevels.httpServices.suspended”"]),
            Fault(
                file: "hovercraft: eels",
                parts: ["c.yaml:1:1", "“hovercraft”", "“sharedcore help settings” lists the keys."]),
            Fault(file: "directory: {path: [a]}", parts: ["c.yaml:1:19", "“directory.path” takes one value"]),
            Fault(file: "directory: a", parts: ["c.yaml:1:1", "“directory”", "did you mean “stateDirectory”?"]),
            Fault(file: "push: {routes: {a: b}}", parts: ["c.yaml:1:16", "“push.routes” takes one value"]),
            Fault(file: "handover: soon", parts: ["c.yaml:1:11", "“handover” is a section", "“handover.timeout”"]),
            Fault(file: "executor:\n  budget: never", parts: ["c.yaml:2:11", "executor.budget", "“never”", "250ms"]),
            Fault(file: "executor: {budget: 0s}", parts: ["c.yaml:1:20", "“0s”", "longer than zero"]),
            Fault(
                file: "{\"handover\": {\"onTimeout\": \"kil\"}}", parts: ["c.yaml:1:28", "kill or fence", "“kill”?"]),
            Fault(file: "group: ../other", parts: ["c.yaml:1:8", "group", "“../other”", "letters, digits"]),
            Fault(file: "backend: [file]", parts: ["c.yaml:1:10", "“backend” takes one value"]),
            Fault(file: "backend: [file", parts: ["c.yaml:2:1", "neither YAML nor JSON"]),
            Fault(file: "- backend", parts: ["c.yaml:1:1", "a mapping of keys to values"]),
            Fault(file: "backend: file\nbackend: memory", parts: ["given twice", "“backend”"]),
            Fault(file: "handover.timeout: 1\nhandover: {timeout: 2}", parts: ["c.yaml:2:12", "given twice"]),
            Fault(file: "backend: redis", parts: ["c.yaml:1:10", "“redis”", "memory, file, zmq or etcd"]),
            Fault(file: "backend: &b file\ngroup: *b", parts: ["c.yaml:2:8", "alias of YAML"]),
            Fault(file: aliases(9), parts: ["c.yaml:3:14", "alias of YAML"]),
            Fault(file: "backend: file\n---\ngroup: a", parts: ["c.yaml:2:1", "second document"]),
            Fault(file: String(repeating: "[", count: 20_000), parts: ["c.yaml:1:9", "nested too deep"]),
            Fault(file: String(repeating: "#", count: 70_000), parts: ["c.yaml", "at most 65536 bytes"]),
        ])
    func wrongFile(fault: Fault) async throws {
        let program = try HostProgram()
        try program.write(fault.file + "\n", to: "c.yaml")
        for arguments in [["config", "validate"], ["store", "get", "key"]] {
            let ended = try await program.run(arguments + ["--config", "c.yaml"])
            #expect(ended.status == 78)
            #expect(ended.output.isEmpty)
            expectOneLine(ended.errors)
            for part in fault.parts { #expect(ended.errors.contains(part), "\(ended.errors)") }
        }
    }

    @Test("The message about an unknown key has the most similar keys, not all, and the command that lists all")
    func unknownKeys() async throws {
        let program = try HostProgram()
        try program.write("executor.pauseTime: 1s\n", to: "c.yaml")
        let similar = try await program.run("config", "validate", "--config", "c.yaml")
        let keys = "“executor.budget”, “executor.warning”, “executor.attempts”"
        #expect(
            similar.errors.hasSuffix(
                "c.yaml:1:1: unknown key “executor.pauseTime”; the most similar are \(keys). “sharedcore help settings” lists "
                    + "the keys.\n"), "\(similar.errors)")
        try program.write("hovercraft-full-of-eels: 1\n", to: "c.yaml")
        let other = try await program.run("config", "validate", "--config", "c.yaml")
        #expect(
            other.errors.hasSuffix(
                "c.yaml:1:1: unknown key “hovercraft-full-of-eels”; “sharedcore help settings” lists the keys.\n"),
            "\(other.errors)")
    }

    @Test("Bytes that are not UTF-8 are refused")
    func noText() async throws {
        let program = try HostProgram()
        let ended = try await program.run("config", "validate", "--config", "/proc/self/exe")
        #expect(ended.status == 78)
        expectOneLine(ended.errors)
    }

    @Test("A named file must be there")
    func absentFile() async throws {
        let program = try HostProgram()
        let ended = try await program.run("config", "show", "--config", "absent.yaml")
        #expect(ended.status == 64)
        #expect(ended.errors.contains("--config") && ended.errors.contains("“absent.yaml”"))
        expectOneLine(ended.errors)
    }

    @Test("A wrong environment variable is named")
    func wrongVariable() async throws {
        var program = try HostProgram()
        program.environment["SHAREDCORE_EXECUTOR_BUDGET"] = "30 parsecs"
        let ended = try await program.run("config", "validate")
        #expect(ended.status == 78)
        #expect(ended.errors.contains("SHAREDCORE_EXECUTOR_BUDGET: executor.budget is “30 parsecs”"))
        expectOneLine(ended.errors)
    }

    @Test("A wrong flag is named")
    func wrongFlag() async throws {
        let ended = try await HostProgram().run("--backend", "mermory", "store", "list")
        #expect(ended.status == 64)
        #expect(ended.errors.contains("--backend: backend is “mermory”"))
        #expect(ended.errors.contains("did you mean “memory”?"))
        expectOneLine(ended.errors)
    }

    @Test(
        "A message quotes the beginning of a long text, and the number of its other bytes",
        arguments: [["config", "get"], ["get", "a", "--group"], ["get", "a", "--backend"]])
    func longText(words: [String]) async throws {
        let ended = try await HostProgram().run(words + [String(repeating: "x", count: 4000)])
        #expect(ended.status == 64)
        #expect(ended.errors.contains("xxx… (3744 bytes more)”") && ended.errors.utf8.count < 1000, "\(ended.errors)")
        expectOneLine(ended.errors)
    }

    @Test(
        "The same mistake has status 64 on the command line, and 78 in the environment and in a file",
        arguments: [
            ("backend", "flie"), ("group", "a/b"), ("stateDirectory", "none"), ("durability", "paper"),
            ("stateDirectory", "text"),
        ])
    func places(key: String, value: String) async throws {
        var program = try HostProgram()
        try program.write("", to: "text")
        let option = key == "stateDirectory" ? "--state-directory" : "--" + key
        let wrong = try await program.run("store", "put", "k", "v", option, value)
        #expect(wrong.status == 64 && wrong.errors.contains("sharedcore: \(option): "), "\(wrong.errors)")
        try program.write("\(key): '\(value)'\n", to: "c.yaml")
        let file = try await program.run("store", "put", "k", "v", "--config", "c.yaml")
        #expect(file.status == 78 && file.errors.contains("c.yaml:1:"), "\(file.errors)")
        let variable = key == "stateDirectory" ? "SHAREDCORE_STATE_DIRECTORY" : "SHAREDCORE_" + key.uppercased()
        program.environment[variable] = value
        let environment = try await program.run("store", "put", "k", "v")
        #expect(environment.status == 78 && environment.errors.contains(variable), "\(environment.errors)")
        program.environment = ["SHAREDCORE_CONFIG": "absent.yaml"]
        #expect(try await program.run("status").status == 78)
    }

    @Test("A misspelt variable is no error, but is told with a suggestion")
    func misspeltVariable() async throws {
        var program = try HostProgram()
        program.environment["SHAREDCORE_GRUOP"] = "a"
        let ended = try await program.run("config", "show")
        #expect(ended.status == 0)
        #expect(ended.errors.contains("SHAREDCORE_GRUOP") && ended.errors.contains("“SHAREDCORE_GROUP”?"))
        // `config validate` reports this warning as a mistake.
        let validated = try await program.run("config", "validate")
        #expect(validated.status == 78 && validated.output.isEmpty, "\(validated)")
        #expect(validated.errors == "sharedcore: unknown variable SHAREDCORE_GRUOP; did you mean “SHAREDCORE_GROUP”?\n")
    }

    @Test(
        "The memory backend refuses commands that need two processes",
        arguments: [["store", "list"], ["notify", "post", "a"], ["timeline"], ["check"]])
    func memory(arguments: [String]) async throws {
        var program = try HostProgram()
        let wrong = try await program.run(arguments + ["--backend", "memory"])
        program.environment["SHAREDCORE_BACKEND"] = "memory"
        let configured = try await program.run(arguments)
        for (ended, status) in [(wrong, 64), (configured, 78)] as [(HostProgram.Ended, Int32)] {
            #expect(ended.status == status)
            #expect(ended.errors.contains("lives in one process"))
            expectOneLine(ended.errors)
        }
    }

    /// Expects one line, and no trace of a crash.
    private func expectOneLine(_ text: String, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(text.split(separator: "\n").count == 1, "\(text)", sourceLocation: sourceLocation)
        #expect(text.hasPrefix("sharedcore: "), sourceLocation: sourceLocation)
        #expect(!text.contains("Fatal error") && !text.contains("Stack dump"), sourceLocation: sourceLocation)
    }
}
