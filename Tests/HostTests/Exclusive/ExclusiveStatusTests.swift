internal import Testing

@Suite("The exit status of exclusive")
struct ExclusiveStatusTests {
    @Test("The command's own status is passed on, 128 and the number for a signal")
    func passedOn() async throws {
        let program = try HostProgram()
        for (script, status) in [("exit 0", 0), ("exit 7", 7), ("exit 125", 125), ("kill -TERM $$", 143)] {
            let ended = try await program.run("exclusive", "--role", "main", "--", "sh", "-c", script)
            #expect(ended.status == Int32(status), "\(script): \(ended.errors)")
        }
        #expect(try await program.run("status", "--json").objects().first?["owner"] == .null)
    }

    @Test("Every refusal of sharedcore itself is 125")
    func refusals() async throws {
        let program = try HostProgram()
        let refused = [
            ["exclusive", "--role", "main"], ["exclusive", "--role", "both", "--", "true"],
            ["exclusive", "--", "true"],
            ["exclusive", "--role", "executor", "--take-over", "--", "true"],
            ["exclusive", "--role", "executor", "--insist", "--", "true"],
            ["--backend", "memory", "exclusive", "--role", "main", "--", "true"],
            ["exclusive", "--role", "main", "--backend", "nfs", "--", "true"],
            ["exclusive", "--role", "main", "--config", "absent.yaml", "--", "true"],
        ]
        for arguments in refused {
            let ended = try await program.run(arguments)
            #expect(ended.status == 125, "\(arguments): \(ended.errors)")
            #expect(!ended.errors.isEmpty && ended.output.isEmpty)
        }
        #expect(try await program.run("exclusive", "--help").status == 0)
        // Another command's wrong usage is what it was.
        #expect(try await program.run("timeline", "exclusive").status == 64)
    }

    @Test("A command that is not there is 127, one that cannot be executed 126, and nothing is owned for them")
    func missing() async throws {
        let program = try HostProgram()
        try program.write("text", to: "text")
        for (command, status) in [("nowhere", 127), ("./nowhere", 127), ("./text", 126), ("/", 126)] {
            let ended = try await program.run("exclusive", "--role", "main", "--", command)
            #expect(ended.status == Int32(status), "\(command): \(ended.errors)")
            #expect(ended.errors.contains("“\(command)”"))
        }
        #expect(try await program.run("timeline").output.isEmpty)
    }

    @Test("What only the kernel finds wrong with a command is 126 or 127 as well")
    func brokenScript() async throws {
        let program = try HostProgram()
        try program.write("#!/nowhere/interpreter\n", to: "script")
        let ended = try await program.shell("chmod +x script; sharedcore exclusive --role main -- ./script")
        #expect(ended.status == 127)
        #expect(ended.errors.contains("“./script” cannot be executed"))
    }
}
