internal import CoreAPI
internal import CoreAPITesting
internal import Platform
internal import TestSupport
internal import Testing

/// Contracts P11 and C17 with a real Executor that has a busy core, and short budgets.
@Suite("Executors that are busy, and their budgets (contract C17)")
struct BusyExecutorTests {
    /// The Executor's core is busy for the pushes `call…`, for 4 hours at most. For any other push it is a program that ignores
    /// its warning.
    private func program(_ settings: [String: String]) throws -> HostProgram {
        var program = try HostProgram()
        for (name, value) in settings { program.environment["SHAREDCORE_EXECUTOR_" + name] = value }
        // A push whose Executor was killed is not tried again in this test.
        program.environment["SHAREDCORE_EXECUTOR_RETRY_DELAY"] = "1h"
        let group = program.directory.path(of: "state/sharedcore/default")
        let peer = try ChildProcess.built("sharedcore-test-peer")
        try program.write(
            """
            case "$1" in
                call*) exec \(peer) busy \(group) "$1" call ;;
            esac
            trap '' TERM
            echo runs
            while :; do sleep 0.05; done
            """, to: "executor.sh")
        program.environment["SHAREDCORE_EXECUTOR_COMMAND"] = "/bin/sh \(program.directory.path(of: "executor.sh")) {id}"
        return program
    }

    private func untilBusy(_ host: ServingHost, with id: String) async throws {
        try await eventually("the owner is busy with \(id)", timeout: TestTimeout.long) {
            let status = try await host.program.run("status", "--json").objects().first
            guard case .array(let activities) = status?["activities"] else { return false }
            return activities.contains { activity in
                if case .object(let fields) = activity { fields["id"] == .text(id) } else { false }
            }
        }
    }

    private func elapsed(_ end: [String: JSONField]) throws -> UInt64 {
        guard case .number(let elapsed) = end["elapsedMs"] else { throw NothingPrinted(end: end) }
        return elapsed
    }

    @Test(
        "In a call it outlives its budget, takes no slot, and is told when the call has ended; also where its host is behind a hub",
        arguments: HostProgram.backends)
    func call(backend: String) async throws {
        let settings = ["WARNING": "20s", "BUDGET": "22s", "LIMIT": "1", "MEMORY": "256MiB"]
        try await HostProgram.using(backend, try program(settings)) { try await call($0) }
    }

    private func call(_ program: HostProgram) async throws {
        try await ServingHost.serve(program) { host in
            _ = try await host.program.run("push", "call-1")
            try await untilBusy(host, with: "call-1")
            // Two pushes come meanwhile. One has the only slot, and the other waits for it.
            _ = try await host.program.run("push", "other-1")
            try await host.until("started", of: "other-1")
            _ = try await host.program.run("push", "other-2")
            let other = try await host.until("ended", of: "other-1")
            #expect(other["reason"] == .text("time"), "\(other)")
            try await host.until("started", of: "other-2")
            // The other push has come later and has had all of its time.
            #expect(try !host.events("ended").contains { $0["callID"] == .text("call-1") })
            try await untilBusy(host, with: "call-1")

            _ = try await host.program.run("store", "put", "busy/call-1", "end")
            let end = try await host.until("ended", of: "call-1")
            #expect(end["warned"] == .text("time") && end["printed"] == .text("busy"), "\(end)")
            #expect(try elapsed(end) >= 22_000)
        }
    }

    @Test("Its memory stays limited")
    func memory() async throws {
        let program = try program(["BUDGET": "1h", "MEMORY": "96MiB"])
        try await ServingHost.serve(program) { host in
            _ = try await host.program.run("push", "call-1")
            try await untilBusy(host, with: "call-1")
            _ = try await host.program.run("store", "put", "busy/call-1", "eat")
            let end = try await host.until("ended", of: "call-1")
            #expect(end["status"] == .number(137) && end["reason"] == .text("memory"), "\(end)")
        }
    }
}
