internal import Coordination
internal import CoreAPI
internal import CoreAPITesting
internal import Platform
internal import Subprocess
internal import TestSupport
internal import Testing

@Suite("Pushes whose Executors fail, or whose host dies")
struct RetryTests {
    private func program(_ command: String, attempts: Int = 5, pause: String = "50ms") throws -> HostProgram {
        var program = try HostProgram()
        program.environment["SHAREDCORE_EXECUTOR_ATTEMPTS"] = String(attempts)
        program.environment["SHAREDCORE_EXECUTOR_RETRY_DELAY"] = pause
        try program.write(command, to: "executor.sh")
        program.environment["SHAREDCORE_EXECUTOR_COMMAND"] = "/bin/sh \(program.directory.path(of: "executor.sh")) {id}"
        return program
    }

    @Test("A push is tried again until its Executor has ended by itself; an answer is 0, or 1 with a word")
    func again() async throws {
        let program = try program(
            """
            echo x >> "$(dirname "$0")/tries"
            case $(wc -l < "$(dirname "$0")/tries") in 1) exit 70;; 2) kill -9 $$;; 3) exit 1;; *) echo no; exit 1;; esac
            """)
        try await ServingHost.serve(program) { host in
            _ = try await host.program.run("push", "1@x")
            try await host.until("served", of: "1@x")
            #expect(
                try host.events("ended").map { $0["status"] } == [.number(70), .number(137), .number(1), .number(1)])
            #expect(
                try host.events("ended").map { $0["reason"] } == [
                    .text("status"), .text("signal"), .text("status"), .text("ended"),
                ])
            #expect(try host.events("postponed").map { $0["failures"] } == [.number(1), .number(2), .number(3)])
            try await host.program.untilNoPushWaits()
        }
    }

    @Test("A push that fails too often is given up: said, kept and shown, and tried anew on request")
    func givenUp() async throws {
        let program = try program("[ -e \"$(dirname \"$0\")/works\" ] || exit 9", attempts: 2)
        try await ServingHost.serve(program) { host in
            _ = try await host.program.run("push", "1@x")
            try await host.until("givenUp", of: "1@x")
            try await eventually("it is kept", timeout: TestTimeout.long) {
                try await host.program.pushes()["givenUp"] == .number(1)
            }
            try await host.running.untilErrors(contain: "is given up after 2 attempts")
            let listed = try await host.program.run("push", "--given-up", "--json").objects()
            #expect(
                listed == [
                    [
                        "event": .text("givenUp"), "callID": .text("1@x"), "type": .text("message"),
                        "account": .text(""),
                        "failures": .number(2), "reason": .text("it ended with status 9"),
                    ]
                ])
            try host.program.write("", to: "works")
            let retried = try await host.program.run("push", "--retry", "--json")
            #expect(try retried.objects().first?["count"] == .number(1))
            #expect(try retried.objects().first?["left"] == .number(0))
            try await host.until("served", of: "1@x")
        }
        #expect(
            try await program.pushes() == [
                "waiting": .number(0), "taken": .number(0), "givenUp": .number(0), "forMain": .number(0),
                "paused": .flag(false),
            ])
    }

    @Test("A push that was given up is dropped on request, and no other one; the timeline has the user")
    func dropped() async throws {
        let program = try program("exit 9", attempts: 1)
        try await ServingHost.serve(program) { host in
            for callID in ["1@x", "2@x"] {
                _ = try await host.program.run("push", callID)
                try await host.until("givenUp", of: callID)
            }
        }
        let dropped = try await program.run("push", "--drop", "1@x", "--json")
        #expect(try dropped.objects() == [["event": .text("dropped"), "callID": .text("1@x"), "count": .number(1)]])
        let left = try await program.run("push", "--given-up", "--json").objects().map { $0["callID"] }
        #expect(left == [.text("2@x")])
        let again = try await program.run("push", "--drop", "1@x")
        #expect(again.status == 1 && again.errors.contains("no push of “1@x” is given up"), "\(again)")
        let told = try await program.run("timeline", "--json").objects().filter { $0["event"] == .text("operated") }
        #expect(told.map { $0["reason"] } == [.text("user \(OwnProcess.user) drops the given-up pushes of “1@x”")])
        #expect(try await program.run("check").status == 0)
    }

    @Test("A paused host starts no Executor until it is resumed, also one that starts while paused")
    func paused() async throws {
        let program = try program("exit 0")
        try await ServingHost.serve(program) { host in
            _ = try await host.program.run("push", "1@x")
            try await host.until("served", of: "1@x")
            let paused = try await host.program.run("push", "--pause", "--json")
            #expect(try paused.objects() == [["event": .text("paused"), "changed": .flag(true)]])
            try await host.until("it is paused") { $0["event"] == .text("paused") }
            _ = try await host.program.run("push", "2@x")
        }
        let again = try await program.run("push", "--pause", "--json")
        #expect(try again.objects() == [["event": .text("paused"), "changed": .flag(false)]])
        try await ServingHost.serve(program) { host in
            try await host.until("it is paused") { $0["event"] == .text("paused") }
            _ = try await host.program.run("push", "3@x")
            // In its turn: by now the Executor of the first would have been started.
            try await eventually("a push is in hand", timeout: TestTimeout.long) {
                try await host.program.pushes()["taken"] == .number(1)
            }
            #expect(try await host.program.pushes()["paused"] == .flag(true))
            #expect(try host.events("started").isEmpty)
            _ = try await host.program.run("push", "--resume")
            try await host.until("served", of: "2@x")
            try await host.until("served", of: "3@x")
        }
        let told = try await program.run("timeline", "--json").objects().filter { $0["event"] == .text("operated") }
        #expect(
            told.map { $0["reason"] } == [
                .text("user \(OwnProcess.user) pauses the host"), .text("user \(OwnProcess.user) resumes the host"),
            ])
    }

    @Test("Failures are counted beyond the end of a host")
    func counted() async throws {
        let program = try program("exit 9", attempts: 2, pause: "1h")
        try await ServingHost.serve(program) { host in
            _ = try await host.program.run("push", "1@x")
            try await host.until("postponed", of: "1@x")
            try await eventually("it is written down", timeout: TestTimeout.long) {
                let list = try await host.program.run("store", "list", ".sharedcore/pushes", "--json")
                return list.output.contains("\\\"failures\\\":1")
            }
        }
        try await ServingHost.serve(program) { host in
            let start = try await host.until("started", of: "1@x")
            #expect(start["attempt"] == .number(2))
            try await host.until("givenUp", of: "1@x")
        }
    }

    @Test("An outage is no fault of the push: it is not counted, and the push is tried until it is over")
    func outage() async throws {
        let program = try program(
            "echo x >> \"$(dirname \"$0\")/tries\"; [ $(wc -l < \"$(dirname \"$0\")/tries\") -gt 4 ] || exit 69",
            attempts: 2)
        try await ServingHost.serve(program) { host in
            _ = try await host.program.run("push", "1@x")
            try await host.until("served", of: "1@x")
            #expect(try host.events("postponed").map { $0["failures"] } == Array(repeating: .number(0), count: 4))
        }
    }

    @Test("An Executor that is interrupted has not served its push", arguments: ["file", "zmq"])
    func interrupted(backend: String) async throws {
        try await HostProgram.using(backend) { program in
            var program = program
            program.environment["SHAREDCORE_EXECUTOR_RETRY_DELAY"] = "50ms"
            program.environment["SHAREDCORE_EXECUTOR_BUDGET"] = "1h"
            try await ServingHost.serve(program) { host in
                _ = try await host.program.run("push", "1@x")
                let start = try await host.until("started", of: "1@x")
                guard case .number(let pid) = start["pid"] else { throw NothingPrinted(end: start) }
                try await eventually("it takes part", timeout: TestTimeout.long) {
                    try await host.program.run("status", "--json").output.contains("push 1@x")
                }
                let process = try #require(ProcessIdentity(of: Int32(pid)))
                _ = try ProcessHandle(process).signal(.terminate)
                let end = try await host.until("ended", of: "1@x")
                #expect(end["status"] == .number(1))
                try await host.until("postponed", of: "1@x")
                try host.program.deliver("1@x")
                try await host.until("served", of: "1@x")
            }
        }
    }

    @Test("A command that is not there is a failure like any other, and the reason is said")
    func missing() async throws {
        var program = try HostProgram()
        program.environment["SHAREDCORE_EXECUTOR_ATTEMPTS"] = "1"
        program.environment["SHAREDCORE_EXECUTOR_COMMAND"] = "/nowhere/executor {id}"
        try await ServingHost.serve(program) { host in
            _ = try await host.program.run("push", "1@x")
            try await host.until("givenUp", of: "1@x")
            try await host.running.untilErrors(contain: "/nowhere/executor")
        }
    }

    @Test(
        "Executors end with their host when it is killed, and their pushes are served by the next",
        arguments: ["file", "zmq"])
    func hostKilled(backend: String) async throws {
        try await HostProgram.using(backend) { program in
            // The Executor waits for its message so long that it still runs when the host is killed.
            var program = program
            program.environment["SHAREDCORE_EXECUTOR_BUDGET"] = "1h"
            _ = try await program.run("push", "1@x")
            let patient = program
            let killed = try await program.running(["serve", "--json"]) { running in
                let host = ServingHost(program: patient, running: running)
                let start = try await host.until("started", of: "1@x")
                guard case .number(let pid) = start["pid"] else { throw NothingPrinted(end: start) }
                // The Executor waits until it has its message.
                try await eventually("it takes part", timeout: TestTimeout.long) {
                    let status = try await host.program.run("status", "--json")
                    return status.output.contains("push 1@x")
                }
                try running.send(.kill)
                try await eventually("the Executor is gone", timeout: TestTimeout.long) {
                    ProcessView.isGone(Int32(pid))
                }
            }
            #expect(killed.status == 137)
            try program.deliver("1@x")
            try await ServingHost.serve(program) { try await $0.until("served", of: "1@x") }
            try await program.untilNoPushWaits()
        }
    }

    @Test("A host that is told to stop asks its Executors to end; what they have not done is done by the next")
    func stopped() async throws {
        let program = try program(
            """
            # Before it tells that it is under way: the host may stop at once then.
            trap 'exit 1' TERM
            echo "$1" >> "$(dirname "$0")/tries"
            [ $(wc -l < "$(dirname "$0")/tries") -gt 1 ] && exit 0
            while :; do sleep 0.05; done
            """)
        try await ServingHost.serve(program) { host in
            _ = try await host.program.run("push", "1@x")
            try await host.until("started", of: "1@x")
            try await eventually("the Executor is under way", timeout: TestTimeout.long) {
                try await host.program.shell("cat tries 2>/dev/null").output == "1@x\n"
            }
        }
        #expect(try await program.pushes()["waiting"] == .number(1))
        try await ServingHost.serve(program) { try await $0.until("served", of: "1@x") }
    }
}
