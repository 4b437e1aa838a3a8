internal import Platform
internal import TestInstruments
import TestSupport
import Testing

/// The program of an application that adds a backend in Swift, `own`, to the commands of `sharedcore` (decision 51).
@Suite("A program with an added backend has all commands")
struct HostedProgramTests {
    private let scratch: TemporaryDirectory

    init() throws {
        scratch = try TemporaryDirectory()
    }

    @Test("A value that is set by one process is read by another, by an option, a variable and a file")
    func values() async throws {
        try await expect(0, of: ["--backend", "own", "set", "greeting", "hello"])
        #expect(try await output(of: ["--backend", "own", "ls"]) == "greeting\thello")
        let file = try write("backend: own\nown: {path: \(scratch.path)}\n")
        let run = try await run(["--config", file, "ls"], variables: [:])
        #expect(run.status == .exited(0) && run.output == "greeting\thello" && run.errors == "", "\(run)")
        #expect(try FileStatus(ofPath: scratch.path + "/default").permissions == 0o700)
    }

    @Test("Settings are checked, shown and listed, with a relative path absolute")
    func settings() async throws {
        let file = try write("backend: own\nown: {path: groups}\n")
        let shown = try await run(["--config", file, "config", "get", "own.path"], variables: [:])
        #expect(shown.output == scratch.path + "/groups", "\(shown)")
        let wrong = try write("backend: own\nown: {pth: groups}\n", to: "wrong.yaml")
        for command in [["get", "a"], ["config", "validate"]] {
            let run = try await run(["--config", wrong] + command, variables: [:])
            #expect(run.status == .exited(78) && run.errors.contains("\(wrong):2:7"), "\(run)")
        }
        let beside = try write("backend: file\nown: {path: groups}\n", to: "beside.yaml")
        try await expect(0, of: ["--config", beside, "config", "validate"])
        let list = try await output(of: ["backends", "--json"])
        let line = try #require(list.split(separator: "\n").first { $0.contains("\"name\":\"own\"") })
        #expect(line.contains("\"kind\":\"added\"") && line.contains("\"variable\":\"SHAREDCORE_OWN_PATH\""))
        #expect(try await output(of: ["version", "--json"]).contains("\"own\""))
    }

    @Test("A secret of an added backend is shown by no command, and is in no error of opening")
    func secret() async throws {
        let file = try write("backend: own\nown: {path: \(scratch.path), password: wrong-hunter2}\n")
        for arguments in [["config", "show"], ["config", "get", "own.password", "--json"], ["get", "a"]] {
            let run = try await run(["--config", file] + arguments, variables: [:])
            #expect((run.output + run.errors).contains("(secret)"), "\(run)")
            #expect(!(run.output + run.errors).contains("hunter2"), "\(run)")
        }
        let given = try await run(["--own-password", "hunter2", "get", "a"], variables: [:])
        #expect(given.status == .exited(64) && given.errors.contains("SHAREDCORE_OWN_PASSWORD"), "\(given)")
        #expect(!given.errors.contains("hunter2"), "\(given)")
    }

    @Test("Another backend is refused with the place, and the program `sharedcore` does not know the added one")
    func absent() async throws {
        let unknown = try await run(["--backend", "absent", "get", "a"])
        #expect(unknown.status == .exited(64) && unknown.errors.contains("--backend"), "\(unknown)")
        let without = try await run(["--backend", "own", "get", "a"], of: "sharedcore")
        #expect(without.status == .exited(64), "\(without)")
    }

    @Test(
        "A backend that no configuration could choose is refused by its name",
        arguments: [
            ("bundled-name", "“file”"), ("bad-name", "“Own”"), ("twice", "“own”"), ("other-key", "“own.path”"),
            ("taken-key", "“push”"), ("secret-default", "“other.password”"),
        ])
    func invalid(kind: String, name: String) async throws {
        let run = try await run(["--backend", "own", "get", kind])
        #expect(run.status == .exited(78) && run.errors.contains(name), "\(run)")
    }

    @Test("The host starts Executors that are this program, with the added backend, for a push")
    func pushes() async throws {
        let host = try start(["--backend", "own", "serve", "--json"])
        let first = try await host.nextLine(timeout: TestTimeout.long)
        #expect(first?.contains("\"serving\"") == true, "\(first ?? "")")
        try await expect(0, of: ["--backend", "own", "push", "first"])
        while let line = try await host.nextLine(timeout: TestTimeout.long) {
            if line.contains("first") { break }
        }
        try await eventually("an Executor owns", timeout: TestTimeout.long) {
            try await output(of: ["--backend", "own", "timeline"]).contains("Executor “push first”")
        }
        #expect(try await output(of: ["--backend", "own", "status"]).contains("host      pid \(host.pid)"))
        host.signal(.terminate)
        #expect(await host.end() == .exited(0))
    }

    @Test("The contract is tried on groups of the added backend, with second processes")
    func conformance() async throws {
        for rule in ["S6c", "L3b", "N6g"] {
            let run = try await run(["--backend", "own", "conformance", "--only", rule, "--json"])
            #expect(run.status == .exited(0), "\(run)")
            let summary = try #require(run.output.split(separator: "\n").last)
            #expect(summary.contains("\"backend\":\"own\"") && !summary.contains("\"passed\":0"), "\(summary)")
        }
    }

    private struct Run {
        let status: ProgramEnd
        let output: String
        let errors: String
    }

    private func write(_ text: String, to name: String = "configuration.yaml") throws -> String {
        let path = scratch.path + "/" + name
        try OpenFile(path: path, .createNew).write(Array(text.utf8), at: 0)
        return path
    }

    private func expect(_ status: Int32, of arguments: [String]) async throws {
        let run = try await run(arguments)
        #expect(run.status == .exited(status), "\(run)")
    }

    private func output(of arguments: [String]) async throws -> String { try await run(arguments).output }

    private func start(
        _ arguments: [String], variables: [String: String]? = nil, of program: String = "sharedcore-test-hosted"
    ) throws -> ChildProcess {
        let environment = [
            "SHAREDCORE_STATE_DIRECTORY": scratch.path + "/state", "PATH": "/usr/bin:/bin", "TMPDIR": scratch.path,
            "HOME": scratch.path,
        ]
        return try ChildProcess(
            try ChildProcess.built(program), arguments,
            environment: environment.merging(variables ?? ["SHAREDCORE_OWN_PATH": scratch.path]) { $1 },
            keepsErrors: true)
    }

    private func run(
        _ arguments: [String], variables: [String: String]? = nil, of program: String = "sharedcore-test-hosted"
    ) async throws -> Run {
        let program = try start(arguments, variables: variables, of: program)
        let end = await program.end()
        return Run(
            status: end, output: program.lines.joined(separator: "\n"), errors: program.errorText(upTo: 1 << 14))
    }
}
