internal import Coordination
internal import CoreAPI
internal import CoreAPITesting
internal import FileNotifyBackend
internal import FoundationEssentials
internal import Platform
internal import Subprocess
internal import TestSupport
internal import Testing

@testable internal import SharedCoreHost

@Suite("P13: pushes with a type, an account and a payload")
struct PushTypeTests {
    private static let payload: [UInt8] = [0, 0xff, 0x0a, 0x53]
    private static let encoded = "AP8KUw=="
    private static let show =
        #"echo "$SHAREDCORE_CALL_ID $SHAREDCORE_PUSH_TYPE [$SHAREDCORE_PUSH_ACCOUNT] [$SHAREDCORE_PUSH_PAYLOAD]""#

    private func program(_ script: String = show, routes: String? = nil) throws -> HostProgram {
        var program = try HostProgram()
        try program.write(script, to: "executor.sh")
        try program.write(bytes: Self.payload, to: "payload")
        program.environment["SHAREDCORE_EXECUTOR_COMMAND"] = "/bin/sh \(program.directory.path(of: "executor.sh")) {id}"
        program.environment["SHAREDCORE_EXECUTOR_RETRY_DELAY"] = "50ms"
        program.environment["SHAREDCORE_PUSH_ROUTES"] = routes
        return program
    }

    private func push(_ id: String, to program: HostProgram, _ more: String...) async throws {
        let arguments = ["push", id, "--type", "call", "--account", "ümit@x", "--payload", "payload"] + more
        let pushed = try await program.run(arguments)
        #expect(pushed.status == 0, "\(pushed.errors)")
    }

    @Test("An Executor finds them in its environment, the payload as Base64; of a push without them the defaults")
    func environment() async throws {
        var program = try program()
        // The variable of another push, as where an Executor's program has started the host.
        program.environment["SHAREDCORE_PUSH_TYPE"] = "other"
        program.environment["SHAREDCORE_PUSH_ACCOUNT"] = "other"
        program.environment["SHAREDCORE_PUSH_PAYLOAD"] = "AAAA"
        let ended = try await ServingHost.serve(program) { [program] host in
            try await push("1@x", to: program)
            #expect(try await program.run("push", "2@x").status == 0)
            #expect(try await program.run(["push", "3@x", "--payload", "-"], input: "text").status == 0)
            for (id, values) in [
                ("1@x", "call [ümit@x] [\(Self.encoded)]"), ("2@x", "message [] []"), ("3@x", "message [] [dGV4dA==]"),
            ] {
                let end = try await host.until("ended", of: id)
                #expect(try host.printed(end) == "\(id) \(values)")
            }
            #expect(!host.running.errors.lines.contains { $0.contains("unknown variable") })
        }
        #expect(ended.status == 0)
        // The second push had none of the first one's variables.
        #expect(ended.output.components(separatedBy: Self.encoded).count == 2)
    }

    @Test(
        "The Executors of sharedcore have them as well, and no list of processes shows a payload",
        arguments: ["file", "zmq"])
    func ownExecutor(backend: String) async throws {
        try await HostProgram.using(backend) { program in
            try program.write(bytes: Self.payload, to: "payload")
            let ended = try await ServingHost.serve(program) { [program] host in
                try await push("1@x", to: program)
                let start = try await host.until("started", of: "1@x")
                guard case .number(let pid) = start["pid"] else { throw NothingPrinted(end: start) }
                func text(_ file: String) -> String { OpenFile.text(of: "/proc/\(pid)/\(file)", upTo: 1 << 20) ?? "" }
                try await eventually("it has become its program", timeout: TestTimeout.long) {
                    text("environ").contains("SHAREDCORE_PUSH_PAYLOAD=\(Self.encoded)")
                }
                let environment = text("environ").split(separator: "\0")
                #expect(environment.contains("SHAREDCORE_PUSH_TYPE=call"))
                #expect(environment.contains("SHAREDCORE_PUSH_ACCOUNT=ümit@x"))
                try await eventually("it takes part", timeout: TestTimeout.long) {
                    try await program.run("status", "--json").output.contains("push 1@x")
                }
                #expect(!text("cmdline").contains(Self.encoded) && !text("cmdline").contains("ümit"))
                try program.deliver("1@x")
                try await host.until("served", of: "1@x")
                let timeline = try await program.run("timeline", "--json").output
                #expect(!timeline.contains(Self.encoded) && !timeline.contains("ümit"))
            }
            #expect(!ended.output.contains(Self.encoded) && !ended.errors.contains(Self.encoded))
        }
    }

    @Test("They stay with a push that is tried again, that is given up and tried anew, and that the next host serves")
    func kept() async throws {
        let program = try program(
            Self.show
                + "\n[ -e \"$(dirname \"$0\")/hold\" ] && sleep 3600\n[ -e \"$(dirname \"$0\")/works\" ] || exit 9")
        let shown = "1@x call [ümit@x] [\(Self.encoded)]"
        var impatient = program
        impatient.environment["SHAREDCORE_EXECUTOR_ATTEMPTS"] = "2"
        try await ServingHost.serve(impatient) { host in
            try await push("1@x", to: program)
            try await host.until("givenUp", of: "1@x")
            #expect(try host.events("ended").map { $0["printed"] } == [.text(shown), .text(shown)])
        }
        try program.write("", to: "hold")
        #expect(try await program.run("push", "--retry").status == 0)
        try await ServingHost.serve(program) { host in
            try await host.until("started", of: "1@x")
            try host.running.send(.kill)
        }
        try FileManager.default.removeItem(atPath: program.directory.path(of: "hold"))
        try program.write("", to: "works")
        try await ServingHost.serve(program) { host in
            let end = try await host.until("ended", of: "1@x")
            #expect(try host.printed(end) == shown)
            try await program.untilNoPushWaits()
        }
    }

    @Test("A record of an earlier version reads as the defaults, and one of this version as the earlier one reads it")
    func earlierRecord() async throws {
        let former =
            #"{"callID":"1@x","receivedAt":5,"bootID":"6f8a7c1e-0000-4000-8000-000000000000","failures":1,"lastFailure":"x"}"#
        let record = try #require(PushRecord(Array(former.utf8)))
        #expect(try record.push == Push(#require(CallID("1@x"))) && record.failures == 1 && record.lastFailure == "x")
        struct FormerPush: Decodable {
            let callID: String
            let receivedAt: UInt64
            let bootID: String
            var failures = 0
            var lastFailure: String?
        }
        let push = try Push(#require(CallID("2@x")), type: "call", account: "a", payload: Self.payload)
        let now = BootInstant(nanoseconds: 7)
        let present = PushRecord(push, at: now, in: BootID(high: 1, low: 2))
        #expect(PushRecord(present.bytes) == present)
        let read = try JSONDecoder().decode(FormerPush.self, from: Data(present.bytes))
        #expect(read.callID == "2@x" && read.receivedAt == 7)
        let plain = String(
            decoding: PushRecord(Push(push.callID), at: now, in: BootID(high: 1, low: 2)).bytes, as: UTF8.self)
        for field in ["type", "account", "payload"] { #expect(!plain.contains(field)) }
        for damage in [#""type":"A""#, #""account":"\n""#, #""payload":"A""#, #""type":7"#] {
            #expect(PushRecord(Array((former.dropLast() + "," + damage + "}").utf8)) == nil)
        }

        let program = try program()
        try program.makeGroupDirectory()
        let group = try await FileGroup.open(
            directory: program.directory.path(of: "state/sharedcore/default"), as: SessionDescription(name: "test"))
        try await group.put(".sharedcore/pushes/1/m", Array(former.utf8))
        await group.close()
        try await ServingHost.serve(program) { host in
            let end = try await host.until("ended", of: "1@x")
            #expect(try host.printed(end) == "1@x message [] []")
        }
    }

    @Test(
        "The command refuses what breaks a rule with status 64, and stores nothing",
        arguments: [
            ["--type", ""], ["--type", "Call"], ["--type", "a b"], ["--account", "a\nb"],
            ["--account", String(repeating: "ü", count: 129)], ["--payload", "large"], ["--payload", "missing"],
            ["--payload", "."], ["--type", String(repeating: "a", count: 65)],
        ])
    func refused(arguments: [String]) async throws {
        let program = try HostProgram()
        try program.write(bytes: Array(repeating: UInt8(ascii: "S"), count: 4097), to: "large")
        let ended = try await program.run(["push", "1@x"] + arguments)
        #expect(ended.status == 64, "\(ended)")
        #expect(!ended.errors.contains("SSS"))
        #expect(try await program.run(["push", "--retry"] + arguments).status == 64)
        // No group was made for it.
        #expect(try await program.run("status").status == 1)
        #expect(try await program.run("push", "2@x", "--payload", "executable").status == 64)
        try program.write(bytes: Array(repeating: 0, count: 4096), to: "largest")
        #expect(try await program.run("push", "1@x", "--payload", "largest").status == 0)
    }
}

@Suite("P13: pushes that are routed to Main", .serialized)
struct MainPushCommandTests {
    private func program(_ backend: String = "file") throws -> HostProgram {
        var program = try HostProgram()
        program.environment["SHAREDCORE_BACKEND"] = backend
        prepare(&program)
        try program.write(bytes: [0, 0xff], to: "payload")
        return program
    }

    private func prepare(_ program: inout HostProgram) {
        program.environment["SHAREDCORE_PUSH_ROUTES"] = "call=main message=executor"
        program.environment["SHAREDCORE_INBOX_LIFETIME"] = "1h"
        program.environment["SHAREDCORE_EXECUTOR_COMMAND"] = "/bin/echo {id}"
    }

    private func call(_ id: String, to program: HostProgram) async throws {
        let pushed = try await program.run(
            "push", id, "--type", "call", "--account", "a@x", "--payload", "payload", "--json")
        #expect(try pushed.objects().first?["route"] == .text("main"), "\(pushed)")
    }

    /// Runs a Main that takes pushes while `body` observes it.
    @discardableResult
    private func main(
        of program: HostProgram, failing point: String? = nil,
        body: @escaping @Sendable (RunningProgram) async throws -> Void = { _ in }
    ) async throws -> HostProgram.Ended {
        var program = program
        program.environment["SHAREDCORE_FAIL_POINT"] = point
        return try await program.running("main", "--pushes", "--json") { running in
            try await body(running)
            if point == nil { try running.send(.terminate) }
        }
    }

    private func pushes(_ lines: [[String: JSONField]]) -> [JSONField?] {
        lines.filter { $0["event"] == .text("push") }.map { $0["callID"] }
    }

    private func until(_ ids: [String], by running: RunningProgram) async throws {
        try await eventually(
            "the pushes \(ids), not \(running.output.lines); \(running.errors.lines)", timeout: TestTimeout.long
        ) {
            pushes(try running.objects()) == ids.map { .text($0) }
        }
    }

    private func forMain(_ count: UInt64, in program: HostProgram) async throws {
        try await eventually("\(count) pushes for Main", timeout: TestTimeout.long) {
            try await program.pushes()["forMain"] == .number(count)
        }
    }

    private func timeline(of program: HostProgram) async throws -> [[String: JSONField]] {
        try await program.run("timeline", "--json").objects().filter {
            $0["event"] == .text("pushHandled") || $0["event"] == .text("pushEnded")
        }
    }

    @Test(
        "A Main takes the pushes that are routed to it, with and without a host; others start Executors",
        arguments: ["file", "zmq"])
    func taken(backend: String) async throws {
        try await HostProgram.using(backend) { program in
            var program = program
            prepare(&program)
            try program.write(bytes: [0, 0xff], to: "payload")
            try await call("1@x", to: program)
            try await ServingHost.serve(program) { [program] host in
                // A push of the same call-id and another type.
                #expect(try await program.run("push", "1@x").status == 0)
                try await host.until("served", of: "1@x")
                try await forMain(1, in: program)
                try await main(of: program) { running in
                    try await until(["1@x"], by: running)
                    try await call("2@x", to: program)
                    try await until(["1@x", "2@x"], by: running)
                    let line = try #require(try running.objects().first { $0["event"] == .text("push") })
                    #expect(line["type"] == .text("call") && line["account"] == .text("a@x"))
                    #expect(line["payload"] == .text("AP8="))
                    try await forMain(0, in: program)
                }
                #expect(try host.events("started").count == 1)
            }
            #expect(
                try await timeline(of: program).map { $0["event"] } == [.text("pushHandled"), .text("pushHandled")])
            #expect(try await program.run("check").status == 0)
            let timeline = try await program.run("timeline", "--json").output
            #expect(!timeline.contains("AP8=") && !timeline.contains("a@x"))
        }
    }

    @Test(
        "A push that a killed Main had taken comes to the next Main; one that it has acknowledged does not",
        arguments: [("push.taken", false), ("push.handled", false), ("push.acknowledged", true)], ["file", "zmq"])
    func killed(step: (point: String, isOver: Bool), backend: String) async throws {
        try await HostProgram.using(backend) { program in
            var program = program
            prepare(&program)
            try program.write(bytes: [0, 0xff], to: "payload")
            for id in ["1@x", "2@x"] { try await call(id, to: program) }
            let killed = try await main(of: program, failing: step.point + ":kill")
            #expect(killed.status == 137)
            #expect(pushes(try killed.objects()) == (step.point == "push.taken" ? [] : [.text("1@x")]))
            try await main(of: program) { [program] running in
                try await until(step.isOver ? ["2@x"] : ["1@x", "2@x"], by: running)
                try await forMain(0, in: program)
            }
            #expect(try await timeline(of: program).count == 2)
        }
    }

    @Test("They wait through the end of any host, and a Main that has stopped gives back what it could not print")
    func hosts() async throws {
        let program = try program()
        try await ServingHost.serve(program) { host in
            try await call("1@x", to: program)
            try host.running.send(.kill)
        }
        // A reader that has ended before the program begins is no failure. A full device is one.
        for (output, status) in [("exec 3> >(exit); wait $!", 0), ("exec 3>/dev/full", 74)] {
            let closed = try await program.shell(
                "\(output); sharedcore main --pushes --json 2>errors >&3; echo $?; cat errors")
            #expect(closed.output.hasPrefix("\(status)\n"), "\(closed)")
            try await forMain(1, in: program)
        }
        try await ServingHost.serve(program) { host in
            try await main(of: program) { running in
                try await until(["1@x"], by: running)
                try host.running.send(.kill)
                try await call("2@x", to: program)
                try await until(["1@x", "2@x"], by: running)
                try await forMain(0, in: program)
            }
        }
    }

    @Test(
        "A push that no Main takes ends with inbox.lifetime: the host and the timeline say so, or the next host"
    )
    func ended() async throws {
        var program = try program()
        program.environment["SHAREDCORE_INBOX_LIFETIME"] = "1ms"
        try await call("1@x", to: program)
        // The push's time is over before another process has begun.
        try await forMain(1, in: program)
        try await ServingHost.serve(program) { [program] host in
            try await host.running.untilErrors(contain: "type call, “1@x”")
            try await call("2@x", to: program)
            try await host.running.untilErrors(contain: "type call, “2@x”")
            try await forMain(0, in: program)
            #expect(try host.events("started").isEmpty)
        }
        let lines = try await timeline(of: program)
        #expect(lines.map { $0["event"] } == [.text("pushEnded"), .text("pushEnded")])
        #expect(lines.map { $0["role"] } == [.text("host"), .text("host")])
        #expect(try await program.run("check").status == 0)
    }

    @Test("A Main that comes too late does not get it")
    func late() async throws {
        var program = try program()
        program.environment["SHAREDCORE_INBOX_LIFETIME"] = "1ms"
        try await call("1@x", to: program)
        program.environment["SHAREDCORE_INBOX_LIFETIME"] = "1h"
        try await call("2@x", to: program)
        try await main(of: program) { [program] running in
            try await until(["2@x"], by: running)
            try await forMain(0, in: program)
        }
        #expect(try await timeline(of: program).map { $0["event"] } == [.text("pushEnded"), .text("pushHandled")])
    }
}
