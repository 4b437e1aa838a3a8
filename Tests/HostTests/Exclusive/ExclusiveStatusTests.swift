internal import Subprocess
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
            ["exclusive", "--no-wait", "--timeout", "1s", "--", "true"], ["exclusive", "--timeout", "0", "--", "true"],
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
        // The status for wrong usage of other commands is unchanged.
        #expect(try await program.run("timeline", "exclusive").status == 64)
    }

    @Test("A command that is not behind “--” is refused with what is to be written")
    func withoutTerminator() async throws {
        let program = try HostProgram()
        for arguments in [["exclusive"], ["exclusive", "true"], ["exclusive", "--no-wait", "true", "--"]] {
            let ended = try await program.run(arguments)
            #expect(ended.status == 125 && ended.output.isEmpty, "\(ended)")
            #expect(
                ended.errors.contains("behind “--”, such as “sharedcore exclusive -- my-client”"), "\(ended.errors)")
        }
    }

    @Test("--refused-status and --lost-status tell a refusal and a loss from other failures; 1 to 255")
    func chosen() async throws {
        let program = try HostProgram()
        // A slow machine needs time for the command to end by itself.
        try program.write("handover:\n  timeout: 60s\n  maximumTimeout: 60s\n", to: "sharedcore.yaml")
        let chosen = ["exclusive", "--role", "main", "--refused-status", "75", "--lost-status", "76"]
        let script = "trap 'kill $!; exit 3' TERM; echo runs; sleep 600 & wait"
        let lost = try await program.running(chosen + ["--", "sh", "-c", script]) {
            try await $0.untilOutput(has: 1)
            let refused = try await program.run(chosen + ["--no-wait", "--", "true"])
            #expect(refused.status == 75 && refused.errors.contains("--take-over"), "\(refused.errors)")
            #expect(try await program.run("exclusive", "--no-wait", "--", "true").status == 125)
            let taking = try await program.run(chosen + ["--take-over", "--", "sh", "-c", "exit 7"])
            #expect(taking.status == 7, "\(taking.errors)")
        }
        #expect(lost.status == 76, "\(lost.errors)")
        // A command that ends because sharedcore got a signal has lost nothing.
        let ended = try await program.running(chosen + ["--", "sh", "-c", script]) {
            try await $0.untilOutput(has: 1)
            try $0.send(.terminate)
        }
        #expect(ended.status == 3, "\(ended.errors)")
        for number in ["0", "256", "-1", "x"] {
            for option in ["--refused-status", "--lost-status"] {
                let wrong = try await program.run("exclusive", "--role", "main", "\(option)=\(number)", "--", "true")
                #expect(wrong.status == 125 && wrong.errors.contains(option), "\(wrong.errors)")
            }
        }
        #expect(try await program.run("check").status == 0)
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

    @Test("A fault of a command that only the kernel finds is 126 or 127 as well")
    func brokenScript() async throws {
        let program = try HostProgram()
        try program.write("#!/nowhere/interpreter\n", to: "script")
        let ended = try await program.shell("chmod +x script; sharedcore exclusive --role main -- ./script")
        #expect(ended.status == 127)
        #expect(ended.errors.contains("“./script” cannot be executed"))
    }

    @Test(
        "Without --role it is a Main; it waits for its turn behind another Main and says for whom",
        arguments: ["main", "executor"])
    func waits(role: String) async throws {
        let program = try HostProgram()
        let first = try await program.running("exclusive", "--", "sh", "-c", "echo runs; exec sleep 600") { first in
            try await first.untilOutput(has: 1)
            let second = try await program.running("exclusive", "--role", role, "--", "echo", "second") {
                try await $0.untilErrors(contain: "waiting for main “sh” pid \(first.pid) (epoch ")
                try await $0.untilErrors(
                    contain: "(the wait has no limit: --timeout sets one, --no-wait refuses at once)")
                #expect($0.output.lines.isEmpty)
                try first.send(.terminate)
            }
            #expect(second.status == 0 && second.output == "second", "\(second)")
        }
        #expect(first.status == 143)
        // A killed one is no longer waited for either.
        _ = try await program.running("exclusive", "--", "sh", "-c", "echo runs; exec sleep 600") { first in
            try await first.untilOutput(has: 1)
            let second = try await program.running("exclusive", "--role", role, "--", "echo", "second") {
                try await $0.untilErrors(contain: "waiting for main “sh” pid \(first.pid) (epoch ")
                try first.send(.kill)
            }
            #expect(second.status == 0 && second.output == "second", "\(second)")
        }
        #expect(try await program.run("check").status == 0)
    }

    @Test("--timeout and --no-wait bound the wait, for a Main and for an Executor, and end with --refused-status")
    func bounded() async throws {
        let program = try HostProgram()
        for owner in ["main", "executor"] {
            _ = try await program.running(
                "exclusive", "--role", owner, "--", "sh", "-c", "echo runs; exec sleep 600"
            ) { running in
                try await running.untilOutput(has: 1)
                for role in owner == "main" ? ["main", "executor"] : ["executor"] {
                    for limit in [["--no-wait"], ["--timeout", "300ms"]] {
                        let ended = try await program.run(
                            ["exclusive", "--role", role, "--refused-status", "75"] + limit + ["--", "echo", "never"])
                        #expect(ended.status == 75 && ended.output.isEmpty, "\(owner) \(role) \(limit): \(ended)")
                        #expect(ended.errors.contains(limit.count == 1 ? "owns the core" : "timed out"), "\(ended)")
                    }
                }
                // A Main that must not wait for another Main asks an Executor to hand over.
                if owner == "executor" {
                    #expect(try await program.run("exclusive", "--no-wait", "--", "true").status == 0)
                } else {
                    try running.send(.terminate)
                }
            }
        }
        // The time limits the wait: a command that has begun runs on.
        let begun = try await program.run("exclusive", "--timeout", "2s", "--", "sh", "-c", "sleep 3; echo done")
        #expect(begun.status == 0 && begun.output == "done\n", "\(begun)")
        #expect(try await program.run("exclusive", "--no-wait", "--", "true").status == 0)
    }
}
