internal import CoreAPITesting
internal import Subprocess
internal import TestSupport
internal import Testing

@Suite("The host reads its configuration again")
struct ReloadTests {
    private func configuration(limit: Int, more: String = "") -> String {
        "executor:\n  limit: \(limit)\n  command: sleep 1000\n\(more)"
    }

    @Test("What can change changes at SIGHUP, and the rest is named")
    func changes() async throws {
        let program = try HostProgram()
        try program.write(configuration(limit: 1), to: "sharedcore.yaml")
        try await ServingHost.serve(program) { host in
            for callID in ["1@x", "2@x"] { _ = try await host.program.run("push", callID) }
            try await host.until("started", of: "1@x")
            try await eventually("the other one waits", within: Patience.long) {
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
