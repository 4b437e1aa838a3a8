internal import SharedCoreConfiguration
internal import Testing

@testable internal import SharedCoreHost

@Suite("Former names are refused with the new one (contract E2)")
struct FormerNamesTests {
    @Test("E2: a former key in a file ends with status 78 and names the key of now", arguments: FormerNames.keys)
    func key(former: String, now: String) async throws {
        let program = try HostProgram()
        let parts = former.split(separator: ".")
        let nested = parts.count == 1 ? "\(former): 1s" : "\(parts[0]): {\(parts[1]): 1s}"
        for content in [nested, "\(former): 1s"] {
            try program.write(content + "\n", to: "c.yaml")
            let ended = try await program.run(["config", "validate", "--config", "c.yaml"])
            #expect(ended.status == 78)
            #expect(ended.errors.hasSuffix("unknown key “\(former)”; it is “\(now)” now.\n"), "\(ended.errors)")
        }
    }

    @Test("E2: a former variable ends with status 78 and names the variable of now", arguments: FormerNames.keys)
    func variable(former: String, now: String) async throws {
        var program = try HostProgram()
        let variable = EnvironmentLayer.variable(of: former)
        program.environment[variable] = "1s"
        for arguments in [["config", "validate"], ["store", "put", "key", "value"]] {
            let ended = try await program.run(arguments)
            #expect(ended.status == 78)
            #expect(
                ended.errors
                    == "sharedcore: \(variable) is not read; set \(EnvironmentLayer.variable(of: now)) in its place.\n")
        }
        program.environment[variable] = ""
        #expect(try await program.run("config", "validate").status == 0)
    }

    @Test("E2: the former variable of the directory is one of them, by its name")
    func directoryVariable() async throws {
        var program = try HostProgram()
        program.environment["SHAREDCORE_DIR"] = "groups"
        let ended = try await program.run("store", "put", "key", "value")
        #expect(ended.status == 78)
        #expect(ended.errors.contains("set SHAREDCORE_STATE_DIRECTORY"))
    }

    @Test(
        "E2: a former option ends with status 64 and names the option of now",
        arguments: [
            (
                ["--dir", "groups", "store", "get", "key"],
                "--dir is not an option; give --state-directory in its place."
            ),
            (["store", "get", "key", "--dir=groups"], "--dir is not an option; give --state-directory in its place."),
            (
                ["executor", "--call-id=1", "--deadline", "1s"],
                "--deadline is not an option; give --timeout in its place."
            ),
        ])
    func option(arguments: [String], remedy: String) async throws {
        let ended = try await HostProgram().run(arguments)
        #expect(ended.status == 64)
        #expect(ended.errors.split(separator: "\n").last == "sharedcore: \(remedy)", "\(ended.errors)")
    }

    @Test("E2: a former option before exclusive ends with the status of exclusive, not with the command's")
    func exclusiveOption() async throws {
        let ended = try await HostProgram().run("--dir", "groups", "exclusive", "--role", "main", "--", "true")
        #expect(ended.status == ExclusiveStatus.refusal)
        #expect(ended.errors.contains("give --state-directory in its place."))
    }

    @Test("E2: a former option of a command of the user is that command's, and is left alone")
    func foreignOption() {
        #expect(FormerNames.remedy(for: ["exclusive", "--", "make", "--dir"]) == nil)
    }

    @Test(
        "E2: a former option of the slim Executor ends with status 64 and names the option of now",
        arguments: [
            "--deadline-ms": "--timeout-ms", "--handover-deadline-ms": "--handover-timeout-ms",
            "--handover-hard-maximum-ms": "--handover-maximum-timeout-ms", "--on-deadline": "--on-handover-timeout",
        ])
    func slimOption(former: String, now: String) async throws {
        let ended = try await HostProgram(named: "sharedcore-executor").run([former, "1"])
        #expect(ended.status == 64)
        #expect(ended.errors.contains("“\(former)” is not an option; give \(now) in its place;"), "\(ended.errors)")
    }
}
