internal import CoreAPITesting
internal import Platform
import TestSupport
import Testing

/// `sharedcore` with a plugin as its backend.
@Suite("The programs take a plugin by configuration")
struct PluginProgramTests {
    private let scratch: TemporaryDirectory
    private let plugins: PluginBuild

    init() async throws {
        scratch = try TemporaryDirectory()
        plugins = try await PluginTests.build.value
    }

    @Test("A value that is set by one process is read by another, in the place that the file's section names")
    func byFile() async throws {
        let file = try write("backend: directory\ndirectory: {path: \(scratch.path)}\n")
        try await expect(0, "", of: ["--config", file, "set", "greeting", "hello", "--json"], hasOutput: false)
        try await expect(0, "greeting\thello", of: ["--config", file, "ls"])
        #expect(try FileStatus(ofPath: scratch.path + "/default.log").permissions == 0o700)
        try await expect(0, "\(scratch.path)", of: ["--config", file, "config", "get", "directory.path"])
    }

    @Test("A variable comes before the file, and is known")
    func byVariable() async throws {
        let file = try write("backend: directory\ndirectory: {path: /nowhere}\n")
        let run = try await run(["--config", file, "set", "a", "b"], ["SHAREDCORE_DIRECTORY_PATH": scratch.path])
        #expect(run.status == .exited(0) && run.errors == "", "\(run)")
    }

    @Test(
        "A key that the plugin does not have is a mistake of the configuration, at its place",
        arguments: [
            ("backend: directory\ndirectory: {pth: /tmp}\n", "2:13", "did you mean “directory.path”?"),
            ("backend: directory\ndirectory: {path: /tmp, speed: 3}\n", "2:25", "“directory” has “directory.path”"),
            ("backend: directory\ndirectory: {path: [a], x: b}\n", "2:19", "“directory.path” takes one value"),
            ("backend: absent\n", "1:10", "absent"),
            ("backend: directory\nother.path: /tmp\n", "2:1", "other.path"),
        ])
    func mistakes(text: String, place: String, word: String) async throws {
        let file = try write(text)
        for command in [["get", "a"], ["config", "validate"]] {
            let run = try await run(["--config", file] + command)
            #expect(run.status == .exited(78), "\(run)")
            #expect(run.errors.contains("\(file):\(place)") && run.errors.contains(word), "\(run)")
        }
    }

    @Test("A variable that its prefix gives to the plugin in use, and that it does not have, is a mistake")
    func unknownVariable() async throws {
        let variables = ["SHAREDCORE_BACKEND": "directory", "SHAREDCORE_DIRECTORY_PTH": scratch.path]
        let validation = try await run(["config", "validate"], variables)
        #expect(validation.errors.contains("did you mean “SHAREDCORE_DIRECTORY_PATH”?"), "\(validation)")
        #expect(validation.status == .exited(78), "\(validation)")
    }

    @Test("A library that blocks while it is loaded does not keep the program from ending", .timeLimit(.minutes(2)))
    func blockingLibrary() async throws {
        let build = try await PluginBuild.constructor("BLOCKS")
        let run = try await run(["--backend", "faulty", "get", "a"], ["SHAREDCORE_PLUGIN_DIRECTORY": build.path])
        #expect(run.status == .exited(78) && run.errors.contains("has not returned its table"), "\(run)")
    }

    @Test(
        "The second signal of a kind ends a command at once while a function of the plugin blocks",
        .timeLimit(.minutes(2)), arguments: [ProcessSignal.terminate, .interrupt])
    func secondSignal(signal: ProcessSignal) async throws {
        let program = try start(["--backend", "faulty", "get", "a"], ["SHAREDCORE_FAULTY_FAULT": "read-block"])
        try await eventually("the function blocks") { program.errorText(upTo: 1 << 14).contains("The plugin blocks.") }
        // The function never returns, so the command would end by its bounds, with a status of its own.
        try await eventually("it ends") {
            program.signal(signal)
            return program.hasEnded
        }
        #expect(await program.end() == .killed(by: signal.rawValue), "\(program.errorText(upTo: 1 << 14))")
    }

    @Test(
        "exit() in a plugin is never the success of a command",
        arguments: [
            ("open-exit", ["get", "a"], 69), ("read-exit", ["get", "a"], 69), ("read-exit", ["set", "a", "b"], 69),
            ("open-exit", ["exclusive", "--", "true"], 125),
        ] as [(String, [String], Int32)])
    func exits(fault: String, command: [String], status: Int32) async throws {
        let run = try await run(["--backend", "faulty"] + command, ["SHAREDCORE_FAULTY_FAULT": fault])
        #expect(run.status == .exited(status) && run.errors.contains("has called exit()"), "\(run)")
    }

    @Test("exit() in the constructor of a plugin's library is never the success of a command")
    func exitingLibrary() async throws {
        let build = try await PluginBuild.constructor("EXITS")
        for command in [["--backend", "faulty", "get", "a"], ["backends"]] {
            let run = try await run(command, ["SHAREDCORE_PLUGIN_DIRECTORY": build.path])
            #expect(run.status == .exited(69) && run.errors.contains("has called exit()"), "\(run)")
        }
    }

    @Test("The section of a plugin that is there may stand beside another backend")
    func otherSection() async throws {
        let file = try write("backend: file\ndirectory: {path: /nowhere}\n")
        try await expect(0, "", of: ["--config", file, "config", "validate"], hasOutput: false)
    }

    @Test("A file that was found in the working directory does not say where plugins are")
    func foundFile() async throws {
        _ = try write("backend: directory\npluginDirectory: \(plugins.path)\n", to: "sharedcore.yaml")
        let command =
            "cd \(scratch.path) && unset SHAREDCORE_PLUGIN_DIRECTORY && exec \(try ChildProcess.built("sharedcore"))"
        for (arguments, status) in [("set a b", Int32(78)), ("--config sharedcore.yaml set a b", 0)] {
            let program = try ChildProcess(
                "sh", ["-c", "\(command) --state-directory \(scratch.path) \(arguments)"], keepsErrors: true)
            let end = await program.end()
            #expect(end == .exited(status), "\(arguments): \(program.errorText(upTo: 4096))")
        }
    }

    @Test("A relative path is absolute for the programs that a host starts")
    func relative() async throws {
        let file = try write("backend: directory\ndirectory: {path: logs}\n")
        try await expect(0, scratch.path + "/logs", of: ["--config", file, "config", "get", "directory.path"])
    }

    @Test("The list names plugins with their settings, and says why one cannot be used")
    func list() async throws {
        let run = try await run(["backends", "--json"])
        #expect(run.status == .exited(1))
        let lines = run.output.split(separator: "\n")
        let directory = try #require(lines.first { $0.contains("\"name\":\"directory\"") })
        #expect(
            directory.contains("\"variable\":\"SHAREDCORE_DIRECTORY_PATH\"")
                && directory.contains("\"version\":\"1.0\""))
        #expect(lines.contains { $0.contains("\"name\":\"abi\"") && $0.contains("\"code\":\"incompatible\"") })
        #expect(lines.contains { $0.contains("\"name\":\"file\"") && $0.contains("bundled") })
    }

    @Test("A secret is shown by no command, and yet it reaches the plugin")
    func secret() async throws {
        let file = try write("backend: faulty\nfaulty: {fault: open-secret, password: hunter2}\n")
        for arguments in [["config", "show"], ["config", "show", "--json"], ["config", "get", "faulty.password"]] {
            let run = try await run(["--config", file] + arguments)
            #expect(run.status == .exited(0) && run.output.contains("(secret)"), "\(run)")
            #expect(!run.output.contains("hunter2"), "\(run)")
        }
        let unset = try await run(["--backend", "faulty", "config", "get", "faulty.password"])
        #expect(unset.output == "none", "\(unset)")
        let opened = try await run(["--config", file, "get", "a"])
        #expect(opened.status != .exited(0) && opened.errors.contains("The password (secret) is wrong."), "\(opened)")
        let list = try await run(["backends"])
        #expect(list.output.contains("SHAREDCORE_FAULTY_PASSWORD; secret)"), "\(list)")
    }

    @Test(
        "A setting on the command line is refused with its variable, and the value is not printed",
        arguments: [["--faulty-password", "hunter2"], ["--faulty-password=hunter2"]])
    func onCommandLine(words: [String]) async throws {
        let run = try await run(["--backend", "faulty"] + words + ["get", "a"])
        #expect(run.status == .exited(64) && run.errors.contains("SHAREDCORE_FAULTY_PASSWORD"), "\(run)")
        #expect(!run.errors.contains("hunter2"), "\(run)")
    }

    @Test("Groups of a plugin are measured, with its settings on command lines: none that is a secret")
    func bench() async throws {
        let file = try write("backend: directory\ndirectory: {path: \(scratch.path)}\n")
        let measured = try await run(
            ["--config", file, "bench", "store.put", "handover", "--samples", "2", "--json"], ["TMPDIR": scratch.path])
        #expect(measured.status == .exited(0), "\(measured)")
        let lines = measured.output.split(separator: "\n")
        #expect(lines.count == 2 && lines[0].contains("\"samples\":200"), "\(lines)")
        let secret = try write("backend: faulty\nfaulty: {password: hunter2}\n", to: "secret.yaml")
        let refused = try await run(["--config", secret, "bench", "store.put"])
        #expect(refused.status == .exited(64) && refused.errors.contains("faulty.password"), "\(refused)")
        #expect(!refused.errors.contains("hunter2"), "\(refused)")
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

    private func expect(_ status: Int32, _ output: String, of arguments: [String], hasOutput: Bool = true) async throws
    {
        let run = try await run(arguments)
        #expect(run.status == .exited(status), "\(run)")
        if hasOutput { #expect(run.output == output, "\(run)") }
    }

    private func run(_ arguments: [String], _ variables: [String: String] = [:]) async throws -> Run {
        let program = try start(arguments, variables)
        let end = await program.end()
        return Run(
            status: end, output: program.lines.joined(separator: "\n"), errors: program.errorText(upTo: 1 << 14))
    }

    private func start(_ arguments: [String], _ variables: [String: String]) throws -> ChildProcess {
        let environment = [
            "SHAREDCORE_PLUGIN_DIRECTORY": plugins.path, "SHAREDCORE_STATE_DIRECTORY": scratch.path,
            "PATH": "/usr/bin:/bin",
        ]
        return try ChildProcess(
            try ChildProcess.built("sharedcore"), arguments, environment: environment.merging(variables) { $1 },
            keepsErrors: true)
    }
}
