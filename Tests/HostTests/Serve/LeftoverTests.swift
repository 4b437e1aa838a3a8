internal import CommandCore
internal import CoreAPI
internal import CoreAPITesting
internal import Glibc
internal import Platform
internal import Subprocess
internal import TestSupport
internal import Testing

@testable internal import SharedCoreHost

@Suite("Processes that a killed host has left running")
struct LeftoverTests {
    private func number(in name: String, of program: HostProgram) async throws -> Int32 {
        let text = try await program.shell("cat \(name)").output
        return try #require(Int32(text.filter { !$0.isWhitespace }))
    }

    @Test("The next host ends what a command had started in turn, but no daemon and nothing of a living host")
    func next() async throws {
        var program = try HostProgram()
        try program.write(
            """
            # What is left must not hold the pipes of the test.
            exec 2> /dev/null
            sleep 1000 & echo $! > "$2/child-$1"
            # It says itself that it is one: before, it is ended like any other.
            setsid sh -c 'echo $$ > "$0.new"; mv "$0.new" "$0"; exec sleep 1000' "$2/daemon-$1" &
            wait
            """, to: "executor.sh")
        program.environment["SHAREDCORE_EXECUTOR_COMMAND"] =
            "/bin/sh \(program.directory.path(of: "executor.sh")) {id} \(program.directory.path)"
        program.environment["SHAREDCORE_EXECUTOR_BUDGET"] = "1h"
        let started = program
        let living = try await started.running(["serve", "--json", "--group", "living"]) { running in
            let host = ServingHost(program: started, running: running)
            try await host.until("it serves") { $0["event"] == .text("serving") }
            _ = try await started.run("push", "a", "--group", "living")
            try await eventually("all are there", timeout: TestTimeout.long) { access(started, "daemon-a") }
            let killed = try await started.running(["serve", "--json"]) { running in
                _ = try await started.run("push", "b")
                try await eventually("all are there", timeout: TestTimeout.long) { access(started, "daemon-b") }
                try running.send(.kill)
            }
            #expect(killed.status == 137)
            let child = try await number(in: "child-b", of: started)
            let daemons = [
                try await number(in: "daemon-a", of: started), try await number(in: "daemon-b", of: started),
            ]
            defer { for daemon in daemons { kill(daemon, SIGKILL) } }
            var quiet = started
            // This host must not begin the push again.
            quiet.environment["SHAREDCORE_EXECUTOR_COMMAND"] = "true"
            try await ServingHost.serve(quiet) { next in
                // The host has ended the process before it reports that it serves. Another test's host may have ended
                // it even earlier.
                #expect(ProcessView.isGone(child))
                try await next.until("served", of: "b")
            }
            for daemon in daemons { #expect(!ProcessView.isGone(daemon)) }
            let other = try await number(in: "child-a", of: started)
            #expect(!ProcessView.isGone(other))
            try running.send(.terminate)
        }
        #expect(living.status == 0)
    }

    @Test(
        "A process of another user is left alone regardless of its environment",
        .enabled(if: getuid() == 0, "needs root to act as another user"))
    func foreign() async throws {
        let program = try HostProgram()
        let parent = try StartedProgram("/bin/true", [], streams: [])
        let dead = try #require(ProcessIdentity(of: parent.pid))
        _ = try parent.waitForEnd()
        let mark = "\(ProcessIdentity.currentNamespace) \(dead.bootID) \(dead.pid) \(dead.startTime)"
        let started = try await program.shell(
            """
            for user in 65534 0; do
                setsid setpriv --reuid $user --clear-groups sh -c \
                    'SHAREDCORE_EXECUTOR_OF="\(mark) $$" exec sleep 1000' > /dev/null 2>&1 &
                echo $!
            done
            """)
        let numbers = started.output.split(separator: "\n").compactMap { Int32($0) }
        try #require(numbers.count == 2, "\(started)")
        defer { for number in numbers { kill(number, SIGKILL) } }
        // The host of another test may end the own one at once.
        try await eventually("both have the mark, or are ended", timeout: TestTimeout.long) {
            numbers.allSatisfy { LaunchMark(of: $0, as: .executor)?.number == UInt64($0) || ProcessView.isGone($0) }
        }
        try await ServingHost.serve(program) { _ in
            #expect(ProcessView.isGone(numbers[1]), "the own one is ended before the host serves")
            #expect(!ProcessView.isGone(numbers[0]))
        }
    }

    @Test("A process is counted once, however long it takes to end, and the next look waits for its end")
    func counted() throws {
        let program = try StartedProgram("/bin/sleep", ["1000"], streams: [])
        // Until something waits for its end, a signal still reaches the process, as one that takes long to end.
        let process = try ProcessHandle(try #require(ProcessIdentity(of: program.pid)))
        var looks = 0
        let ending = MarkedProcesses.end(timeout: .seconds(600)) {
            looks += 1
            if looks > 1 { #expect(process.hasEnded) }
            return looks <= 3 ? [process] : []
        }
        #expect(ending.count == 1 && ending.isComplete)
        #expect(try program.waitForEnd() == 137)
    }

    @Test("A process that cannot be ended delays no host; the host reports it")
    func unending() throws {
        let program = try StartedProgram("/bin/sleep", ["1000"], streams: [])
        let process = try ProcessHandle(try #require(ProcessIdentity(of: program.pid)))
        let ending = MarkedProcesses.end(timeout: .milliseconds(50)) { [process] }
        #expect(ending.count == 1 && !ending.isComplete)
        #expect(try program.waitForEnd() == 137)
    }

    private func access(_ program: HostProgram, _ name: String) -> Bool {
        Glibc.access(program.directory.path(of: name), F_OK) == 0
    }
}
