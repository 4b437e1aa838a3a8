internal import CoreAPI
internal import CoreAPITesting
internal import Platform
internal import Subprocess
internal import TestSupport
internal import Testing

/// Contract P11 with real processes and short budgets (scenario 37).
@Suite("Executors and their budgets (contract P11)")
struct BudgetEnforcementTests {
    /// - Parameter settings: Warnings come late enough for a shell to have set its traps, on a machine that is busy
    ///   with all the other tests.
    private func program(command: String, _ settings: [String: String] = [:]) throws -> HostProgram {
        var program = try HostProgram()
        for (name, value) in settings { program.environment["SHAREDCORE_EXECUTOR_" + name] = value }
        // A push whose Executor was killed waits long before the next attempt, unless the test says otherwise.
        if settings["PAUSE"] == nil { program.environment["SHAREDCORE_EXECUTOR_RETRY_DELAY"] = "1h" }
        try program.write(command, to: "executor.sh")
        program.environment["SHAREDCORE_EXECUTOR_COMMAND"] = "/bin/sh \(program.directory.path(of: "executor.sh")) {id}"
        return program
    }

    @Test("An Executor that ignores its warning is killed at the end of its time, and the next push works at once")
    func ignoresWarning() async throws {
        let program = try program(
            command: """
                [ "$1" = bad ] || { echo good; exit 0; }
                trap '' TERM
                while :; do sleep 0.05; done
                """, ["WARNING": "20s", "BUDGET": "23s"])
        try await ServingHost.serve(program) { host in
            _ = try await host.program.run("push", "bad")
            let end = try await host.until("ended", of: "bad")
            #expect(end["status"] == .number(137) && end["reason"] == .text("time"))
            #expect(end["warned"] == .text("time"))
            guard case .number(let elapsed) = end["elapsedMs"] else { throw NothingPrinted(end: end) }
            #expect(elapsed >= 23_000)
            try await host.until("postponed", of: "bad")
            _ = try await host.program.run("push", "good")
            try await host.until("ended", of: "good")
        }
    }

    @Test("An Executor that is stopped before it has become its program is killed at the end of its time")
    func stoppedBeforeItsProgram() async throws {
        var program = try program(command: "echo ran", ["WARNING": "10s", "BUDGET": "1h"])
        program.environment["SHAREDCORE_FAIL_POINT"] = "start.beforeExec:fail"
        try await ServingHost.serve(program) { host in
            _ = try await host.program.run("push", "stopped")
            let end = try await host.until("ended", of: "stopped")
            // The Executor continues at the warning, and meets the deadline later.
            #expect(end["status"] == .number(143) && end["warned"] == .text("time"), "\(end)")
            _ = try await host.program.run("push", "good")
            try await host.until("served", of: "good")
        }
    }

    @Test("SIGTERM ends a host though an Executor is stopped before it has become its program")
    func terminatedBeforeItsProgram() async throws {
        var program = try program(command: "echo ran", ["WARNING": "1h", "BUDGET": "2h"])
        program.environment["SHAREDCORE_FAIL_POINT"] = "start.beforeExec:fail"
        let ended = try await ServingHost.serve(program) { host in
            _ = try await host.program.run("push", "stopped")
            _ = try await ProcessIdentity.stoppedChild(of: host.running.pid)
        }
        #expect(ended.status == 0, "\(ended.errors)")
    }

    @Test("A host that is killed leaves no Executor that is stopped before it has become its program (contract L3)")
    func killedBeforeItsProgram() async throws {
        var program = try program(command: "echo ran", ["WARNING": "1h", "BUDGET": "2h"])
        program.environment["SHAREDCORE_FAIL_POINT"] = "start.beforeExec:fail"
        let child = Box<ProcessIdentity?>(nil)
        _ = try await program.running(["serve", "--json"]) { [program] running in
            let host = ServingHost(program: program, running: running)
            try await host.until("it serves") { $0["event"] == .text("serving") }
            _ = try await program.run("push", "stopped")
            let found = try await ProcessIdentity.stoppedChild(of: running.pid)
            child.update { $0 = found }
            try running.send(.kill)
        }
        let process = try #require(child.value)
        try await eventually("it is gone", timeout: TestTimeout.long) { process.liveness == .dead }
    }

    @Test("An Executor that reacts to its warning ends in order, and its push is served")
    func hearsWarning() async throws {
        let program = try program(
            command: """
                trap 'echo told; exit 0' TERM
                while :; do sleep 0.05; done
                """, ["WARNING": "20s", "BUDGET": "1h"])
        try await ServingHost.serve(program) { host in
            _ = try await host.program.run("push", "1@x")
            let end = try await host.until("ended", of: "1@x")
            #expect(end["status"] == .number(0) && end["printed"] == .text("told") && end["warned"] == .text("time"))
            try await host.until("served", of: "1@x")
        }
    }

    @Test("An Executor that uses too much memory is killed, and the log has the reason")
    func memory() async throws {
        let program = try program(
            command: """
                x=$(head -c 60000000 /dev/zero | tr '\\0' x)
                while :; do sleep 0.05; done
                """, ["MEMORY": "24MiB", "BUDGET": "1h"])
        try await ServingHost.serve(program) { host in
            _ = try await host.program.run("push", "1@x")
            let end = try await host.until("ended", of: "1@x")
            #expect(end["status"] == .number(137) && end["reason"] == .text("memory"))
            let failed = try await host.until("postponed", of: "1@x")
            guard case .text(let reason) = failed["reason"] else { throw NothingPrinted(end: failed) }
            #expect(reason.contains("MiB of memory, more than executor.memory"))
        }
    }

    @Test("The memory of processes that an Executor has started counts as the Executor's")
    func childMemory() async throws {
        let program = try program(
            command: """
                sh -c 'x=$(head -c 60000000 /dev/zero | tr "\\0" x); while :; do sleep 0.05; done' &
                wait
                """, ["MEMORY": "24MiB", "BUDGET": "1h"])
        try await ServingHost.serve(program) { host in
            _ = try await host.program.run("push", "1@x")
            let end = try await host.until("ended", of: "1@x")
            #expect(end["status"] == .number(137) && end["reason"] == .text("memory"))
        }
    }

    @Test("An Executor of this program stays far below the limit", arguments: ["file", "zmq"])
    func ownExecutorFits(backend: String) async throws {
        try await HostProgram.using(backend) { program in
            try program.deliver("1@x")
            try await ServingHost.serve(program) { host in
                _ = try await host.program.run("push", "1@x")
                let end = try await host.until("ended", of: "1@x")
                #expect(end["reason"] == .text("ended") && end["status"] == .number(0))
            }
        }
    }

    @Test("Processes that an Executor has left in its process group end with it")
    func leftBehind() async throws {
        let program = try program(command: "sleep 1000 & echo $!")
        try await ServingHost.serve(program) { host in
            _ = try await host.program.run("push", "1@x")
            let end = try await host.until("ended", of: "1@x")
            let pid = try #require(Int32(try host.printed(end)))
            try await eventually("its child is gone", timeout: TestTimeout.long) { ProcessView.isGone(pid) }
        }
    }
}
