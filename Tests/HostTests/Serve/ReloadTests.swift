internal import CoreAPITesting
internal import Subprocess
internal import TestSupport
internal import Testing

@Suite("The host reads its configuration again")
struct ReloadTests {
    private func configuration(limit: Int, more: String = "") -> String {
        "executor:\n  limit: \(limit)\n  command: sleep 1000\n\(more)"
    }

    @Test("At SIGHUP the host takes over the settings that can change, and names the others")
    func changes() async throws {
        let program = try HostProgram()
        try program.write(configuration(limit: 1), to: "sharedcore.yaml")
        try await ServingHost.serve(program) { host in
            for callID in ["1@x", "2@x"] { _ = try await host.program.run("push", callID) }
            try await host.until("started", of: "1@x")
            try await eventually("the other one waits", timeout: TestTimeout.long) {
                try await host.program.pushes()["taken"] == .number(2)
            }
            #expect(try host.events("started").count == 1)
            try host.program.write(
                configuration(limit: 2, more: "push:\n  socket: /tmp/elsewhere\n"), to: "sharedcore.yaml")
            try host.running.send(.init(rawValue: 1))
            try await host.until("started", of: "2@x")
            try await host.running.untilErrors(contain: "changed: executor.limit")
            try await host.running.untilErrors(contain: "only a restart changes push.socket")
        }
    }

    @Test("Executors stay with the group that the host serves, also when the file changes")
    func group() async throws {
        let program = try HostProgram()
        @Sendable func configuration(_ group: String, memory: String) -> String {
            "group: \(group)\nexecutor:\n  memory: \(memory)\n"
                + "  command: /bin/sh -c 'echo $SHAREDCORE_GROUP $SHAREDCORE_EXECUTOR_MEMORY'\n"
        }
        try program.write(configuration("a", memory: "25MiB"), to: "sharedcore.yaml")
        try await ServingHost.serve(program) { host in
            for memory in ["26MiB", "27MiB"] {
                try host.program.write(configuration("b", memory: memory), to: "sharedcore.yaml")
                let former = host.running.errors.lines.filter { $0.contains("only a restart changes group") }.count
                try host.running.send(.init(rawValue: 1))
                // Reported at each reload, as long as the problem stays.
                try await eventually("it is named", timeout: TestTimeout.long) {
                    host.running.errors.lines.filter { $0.contains("only a restart changes group") }.count > former
                }
                _ = try await host.program.run("push", memory, "--group", "a")
                let end = try await host.until("ended", of: memory)
                #expect(end["printed"] == .text("a \(memory)"))
            }
        }
    }

    @Test("A configuration that is wrong is said to be, and changes nothing")
    func wrong() async throws {
        let program = try HostProgram()
        try program.write(configuration(limit: 1), to: "sharedcore.yaml")
        try await ServingHost.serve(program) { host in
            try host.program.write("executor:\n  limits: 2\n", to: "sharedcore.yaml")
            try host.running.send(.init(rawValue: 1))
            try await host.running.untilErrors(contain: "did you mean “executor.limit”?")
            try await host.running.untilErrors(contain: "the configuration stays as it was")
            _ = try await host.program.run("push", "1@x", "--config", "/dev/null")
            try await host.until("started", of: "1@x")
        }
    }
}
