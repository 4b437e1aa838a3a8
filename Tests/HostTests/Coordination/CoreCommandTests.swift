internal import CoreAPITesting
internal import Platform
internal import SharedCoreConfiguration
internal import Subprocess
internal import TestSupport
internal import Testing

@testable internal import SharedCoreHost

/// Programs in Python as the core of the programs, by the setting `core.command`, on both backends that processes share.
@Suite("Any program as the core of the programs (contract P14)")
struct CoreCommandTests {
    /// Calls `body` with a program that runs the script as its core, in a mode.
    private func using(
        _ backend: String, _ mode: String, _ arguments: String...,
        body: (HostProgram, PythonCore) async throws -> Void
    ) async throws {
        let script = try PythonCore()
        try await HostProgram.using(backend) { program in
            var program = program
            let command = script.command(mode) + arguments
            program.environment["SHAREDCORE_CORE_COMMAND"] = CommandText.write(command)
            program.environment["SHAREDCORE_CORE_START_TIMEOUT"] = "1h"
            program.environment["SHAREDCORE_EXECUTOR_BUDGET"] = "1h"
            try await body(program, script)
        }
    }

    @Test("A host's Executor runs it for a push, and shows what it delivers", arguments: HostProgram.backends)
    func push(backend: String) async throws {
        try await using(backend, "ordinary", "a=hello there") { program, script in
            try await ServingHost.serve(program) { host in
                try program.write(bytes: [0, 255], to: "payload")
                #expect(try await program.run("push", "a", "--payload", "payload").status == 0)
                let end = try await host.until("ended", of: "a")
                #expect(try host.printed(end).contains("hello there"))
                _ = try await host.until("served", of: "a")
            }
            let notes = script.notes()
            #expect(notes.contains("environment SHAREDCORE_GROUP default"))
            #expect(notes.contains { $0.hasPrefix("start ") && $0.hasSuffix(" executor a AP8=") })
            #expect(notes.contains("stopped"))
            #expect(ProcessView.isGone(try await script.untilPid("runs")))
            #expect(try await program.run("check").status == 0)
        }
    }

    @Test("A push whose core cannot start fails, and is given up after its attempts", arguments: HostProgram.backends)
    func refusedStart(backend: String) async throws {
        try await using(backend, "refuse") { program, script in
            var impatient = program
            // Long enough for Python to start once while all other tests of a slow machine do.
            impatient.environment["SHAREDCORE_EXECUTOR_BUDGET"] = "60s"
            impatient.environment["SHAREDCORE_EXECUTOR_ATTEMPTS"] = "1"
            try await ServingHost.serve(impatient) { host in
                #expect(try await program.run("push", "a").status == 0)
                let end = try await host.until("ended", of: "a")
                #expect(end["status"] == .number(70), "\(end); \(script.notes())")
                _ = try await host.until("givenUp", of: "a")
            }
        }
    }

    @Test(
        "It is gone with a Main that is killed, and what it has started before the next core starts",
        arguments: HostProgram.backends, ["hang-start", "fork", "hang-in-stop"])
    func killed(backend: String, mode: String) async throws {
        try await using(backend, mode) { program, script in
            let killed = try await program.running(["main"]) { running in
                _ = try await script.untilNote(mode == "fork" ? "daemon" : mode == "hang-start" ? "hangs" : "started")
                if mode == "hang-in-stop" {
                    try running.send(.terminate)
                    _ = try await script.untilNote("stop")
                }
                try running.send(.kill)
            }
            #expect(killed.status == 137)
            let pid = try await script.untilPid("runs")
            try await eventually("the kernel ends it", timeout: TestTimeout.long) { ProcessView.isGone(pid) }
            var next = program
            next.environment["SHAREDCORE_CORE_COMMAND"] = CommandText.write(script.command("ordinary", notes: "next"))
            let ended = try await next.running(["main"]) { running in
                try await running.untilOutput(has: 1)
                for word in mode == "fork" ? ["forked", "daemon"] : [] {
                    #expect(ProcessView.isGone(try await script.untilPid(word)), "\(word)")
                }
                try running.send(.terminate)
            }
            #expect(ended.status == 0, "\(ended.errors)")
            #expect(script.notes("next").last == "stopped")
            #expect(try await program.run("check").status == 0)
        }
    }

    @Test("C23: a Main prints the end of a call that its own stop ends", arguments: HostProgram.backends)
    func endOfCall(backend: String) async throws {
        let call = #"beginCall {"callID":"a","direction":"outgoing","from":"ann","to":"bob","state":"answered"}"#
        try await using(backend, "ask", call) { program, script in
            let ended = try await program.running(["main", "--json"]) { running in
                // One for its ownership, and one for the call.
                try await running.untilOutput(has: 2)
                try running.send(.terminate)
            }
            #expect(ended.status == 0, "\(ended.errors)")
            let calls = try ended.objects().compactMap { object -> JSONField? in
                guard object["event"] == .text("call"), case .object(let call)? = object["call"] else { return nil }
                return call["state"]
            }
            #expect(calls == [.text("answered"), .text("ended")], "\(ended.output)")
        }
    }

    @Test(
        "The program of a frozen Main is ended before the next core starts (contracts C4, C6)",
        arguments: HostProgram.backends
    )
    func frozen(backend: String) async throws {
        try await using(backend, "fork") { program, script in
            var next = program
            next.environment["SHAREDCORE_CORE_COMMAND"] = CommandText.write(script.command("ordinary", notes: "next"))
            let second = next
            let first = try await program.running(["main"]) { running in
                try await running.untilOutput(has: 1)
                _ = try await script.untilNote("daemon")
                try running.send(.suspend)
                let ended = try await second.running(["main", "--take-over"]) { running in
                    try await running.untilOutput(has: 1)
                    for word in ["runs", "forked", "daemon"] {
                        #expect(ProcessView.isGone(try await script.untilPid(word)), "\(word)")
                    }
                    try running.send(.terminate)
                }
                #expect(ended.status == 0, "\(ended.errors)")
                try running.send(.resume)
            }
            #expect(first.status == 1, "\(first.errors)")
            let check = try #require(try await program.run("check", "--json").objects().last)
            #expect(check["ok"] == .flag(true) && check["overlaps"] == .number(0))
        }
    }

    @Test(
        "exclusive gives its command the epoch, the role and the group, and ends what a core has left",
        arguments: HostProgram.backends)
    func exclusive(backend: String) async throws {
        try await using(backend, "fork") { program, script in
            _ = try await program.running(["main", "--group", "g"]) { running in
                _ = try await script.untilNote("daemon")
                try running.send(.kill)
            }
            let shown = try await program.run(
                "exclusive", "--group", "g", "--role", "executor", "--", "sh", "-c",
                "echo $SHAREDCORE_GROUP $SHAREDCORE_ROLE $SHAREDCORE_EPOCH")
            #expect(shown.output.hasPrefix("g executor "))
            #expect(Int(shown.output.split(separator: " ").last?.dropLast() ?? "").map { $0 > 0 } == true)
            for word in ["runs", "forked", "daemon"] {
                #expect(ProcessView.isGone(try await script.untilPid(word)), "\(word)")
            }
        }
    }

    @Test("An Executor's memory counts it, and it ends with its Executor (contract P11)")
    func memory() async throws {
        try await using("file", "grow") { program, script in
            var limited = program
            limited.environment["SHAREDCORE_EXECUTOR_MEMORY"] = "64MiB"
            try await ServingHost.serve(limited) { host in
                #expect(try await program.run("push", "a").status == 0)
                let end = try await host.until("ended", of: "a")
                #expect(end["status"] == .number(137) && end["reason"] == .text("memory"))
                let pid = try await script.untilPid("runs")
                try await eventually("the kernel ends it", timeout: TestTimeout.long) { ProcessView.isGone(pid) }
            }
        }
    }

    @Test("A program that is not there fails the start of Main, with the name and the code")
    func absent() async throws {
        var program = try HostProgram()
        program.environment["SHAREDCORE_CORE_COMMAND"] = "no-such-core --account 1"
        let ended = try await program.run("main")
        #expect(ended.status == 70)
        #expect(ended.errors.contains("notFound: “no-such-core” was not found"))
    }

    @Test("A command is written so that it is read as the same words")
    func written() {
        for words in [["a"], ["a", ""], ["/a b", "c"], ["a", "\"", "'", "x\"y'z w"], ["é\t", "--x='1'"]] {
            #expect(CommandText.parse(CommandText.write(words)) == words)
        }
    }
}
