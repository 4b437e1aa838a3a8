internal import CoreAPITesting
internal import FoundationEssentials
internal import Glibc
internal import Subprocess
internal import TestSupport
internal import Testing

/// Main, Executors and readers, each a process of its own on the file backend.
@Suite("The commands of ownership")
struct OwnershipCommandTests {
    private func drop(_ text: String, id: String, for program: HostProgram) throws {
        let maildir = "state/sharedcore/default/Maildir"
        for folder in ["tmp", "new", "cur"] { try program.makeDirectory("\(maildir)/\(folder)") }
        try program.write(
            "From: Zoe <zoe@example.org>\r\nTo: me@example.org\r\nMessage-ID: <\(id)>\r\n\r\n\(text)\r\n",
            to: "\(maildir)/tmp/\(id)")
        try FileManager.default.moveItem(
            atPath: program.directory.path(of: "\(maildir)/tmp/\(id)"),
            toPath: program.directory.path(of: "\(maildir)/new/\(id)"))
    }

    private func prepare(_ program: HostProgram) throws {
        for path in ["state", "state/sharedcore", "state/sharedcore/default"] {
            try FileManager.default.createDirectory(
                atPath: program.directory.path(of: path), withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
        }
    }

    @Test("An Executor runs the core itself when there is no owner, with the fields that scripts rely on (scenario 3)")
    func alone() async throws {
        let program = try HostProgram()
        try prepare(program)
        try drop("Hello", id: "1@x", for: program)
        let ended = try await program.run("executor", "--call-id", "1@x", "--timeout", "200s", "--json")
        #expect(ended.status == 0, "\(ended.errors)")
        let line = try #require(try ended.objects().first)
        #expect(
            Set(line.keys) == [
                "event", "callID", "text", "from", "to", "kind", "source", "coreStarts", "elapsedMs",
            ])
        #expect(line["event"] == .text("message") && line["callID"] == .text("1@x") && line["text"] == .text("Hello"))
        #expect(line["source"] == .text("core") && line["coreStarts"] == .number(1))
        let check = try await program.run("check", "--json")
        #expect(check.status == 0)
        #expect(
            try Set(check.objects().last?.keys ?? [:].keys) == [
                "event", "entries", "violations", "overlaps", "supersededOverlaps", "unprovedThrough", "ok",
            ])
    }

    @Test(
        "The owner is asked to end and hands over; a stopped process is said not to have ended, and killed with --kill",
        arguments: ["file", "zmq"])
    func sessionsAreEnded(backend: String) async throws {
        try await HostProgram.using(backend) { program in
            try prepare(program)
            _ = try await program.running("main", "--json") { main in
                try await main.untilOutput(has: 1)
                let handed = try await program.run("end-session", "--owner", "--json")
                #expect(handed.status == 0, "\(handed)")
                #expect(try handed.objects().first?["event"] == .text("handedOver"))
            }
            let released = try await program.run("timeline", "--json").objects()
            #expect(released.contains { $0["event"] == .text("released") })
            #expect(try await program.run("end-session", "--owner").status == 1)
            #expect(try await program.run("end-session", "12345").status == 1)

            _ = try await program.running("main", "--json") { main in
                try await main.untilOutput(has: 1)
                let status = try #require(try await program.run("status", "--json").objects().first)
                guard case .object(let owner) = status["owner"], case .number(let pid) = owner["pid"],
                    case .array(let sessions) = status["sessions"]
                else { throw NothingPrinted(end: status) }
                let ids = sessions.compactMap { session -> String? in
                    guard case .object(let session) = session, session["pid"] == .number(pid),
                        case .text(let id) = session["id"]
                    else { return nil }
                    return id
                }
                let id = try #require(ids.first)
                try main.send(.suspend)
                let patient = try await program.run("end-session", id, "--timeout", "200ms", "--json")
                #expect(patient.status == 1 && patient.output.contains("running"), "\(patient)")
                let killed = try await program.run("end-session", id, "--kill", "--json")
                #expect(killed.status == 0, "\(killed)")
            }
            let told = try await program.run("timeline", "--json").objects().filter { $0["event"] == .text("operated") }
            #expect(told.count == 3)
            #expect(try await program.run("check").status == 0)
        }
    }

    @Test("A message that does not come is a timeout with status 1 (contract C7)")
    func timeout() async throws {
        let ended = try await HostProgram().run("executor", "--call-id", "none", "--timeout", "200ms", "--json")
        #expect(ended.status == 1)
        #expect(try ended.objects().first?["event"] == .text("timeout"))
        #expect(try ended.objects().first?["text"] == .null)
    }

    @Test(
        "Main owns; Executors get their messages from it, and one that insists is refused (scenarios 1 and 4)",
        arguments: ["file", "zmq"])
    func mainOwns(backend: String) async throws {
        try await HostProgram.using(backend) { try await mainOwns(on: backend, $0) }
    }

    private func mainOwns(on backend: String, _ program: HostProgram) async throws {
        try prepare(program)
        let main = try await program.running("main", "--json") { main in
            try await main.untilOutput(has: 1)
            let owning = try #require(try main.objects().first)
            #expect(owning["event"] == .text("owning") && owning["pid"] == .number(UInt64(main.pid)))

            let status = try #require(try await program.run("status", "--json").objects().first)
            #expect(Set(status.keys).isSuperset(of: ["backend", "group", "revision", "owner", "sessions"]))
            #expect(status["activities"] == .array([]) && status["asked"] == .null)
            if backend == "zmq" {
                guard case .object(let hub) = status["hub"] else {
                    Issue.record("no hub: \(status)")
                    return
                }
                #expect(hub["endpoint"] != nil && hub["pid"] != .null)
            } else {
                #expect(status["hub"] == .null)
            }
            #expect(status["backend"] == .text(backend) && status["group"] == .text("default"))
            guard case .object(let owner) = status["owner"] else {
                Issue.record("nobody owns: \(status)")
                return
            }
            #expect(Set(owner.keys) == ["role", "state", "epoch", "pid", "processStopped", "since"])
            #expect(owner["role"] == .text("main") && owner["state"] == .text("running"))
            #expect(owner["epoch"] == owning["epoch"] && owner["pid"] == owning["pid"])

            try drop("From Main", id: "2@x", for: program)
            let answered = try await program.run("executor", "--call-id", "2@x", "--timeout", "200s", "--json")
            let line = try #require(try answered.objects().first)
            #expect(line["text"] == .text("From Main"))
            #expect(line["source"] == .text("inbox") && line["coreStarts"] == .number(0))

            let insisting = try await program.run(
                "executor", "--call-id", "3@x", "--own", "--timeout", "200s", "--json")
            #expect(insisting.status == 1)
            #expect(try insisting.objects().first?["event"] == .text("refused"))

            let second = try await program.run("main", "--json")
            #expect(second.status == 1 && second.errors.contains("owns"))
            try main.send(.terminate)
        }
        #expect(main.status == 0)
        #expect(try main.objects().last == ["event": .text("stopped")])
        let told = try await program.run("timeline", "--json").objects()
        #expect(told.last?["event"] == .text("released"), "a stopped Main releases, rather than dies")
        #expect(try await program.run("status", "--json").objects().first?["owner"] == .null)
        #expect(try await program.run("check").status == 0)
    }

    @Test("A Main waits for an Executor's activity; one that insists interrupts it (contracts C17, C18)")
    func insists() async throws {
        let program = try HostProgram()
        // A slow machine needs time for the core to end by itself.
        try program.write("handover:\n  timeout: 60s\n  maximumTimeout: 60s\n", to: "sharedcore.yaml")
        _ = try await program.run("store", "put", "group", "is there")
        let peer = HostProgram(named: "sharedcore-test-peer", in: program.directory)
        let owner = try await peer.running(
            "busy", program.directory.path(of: "state/sharedcore/default"), "1", "call"
        ) { owner in
            try await owner.untilOutput(has: 1)
            let patient = try await program.running("main", "--json") { main in
                try await main.untilErrors(contain: "busy with call “1”")
                try main.send(.terminate)
            }
            #expect(try patient.objects().allSatisfy { $0["event"] != .text("owning") })
            let status = try await program.run("status")
            #expect(
                status.output.split(separator: "\n").contains {
                    $0.hasPrefix("busy      call “1”, for ") && $0.hasSuffix(", at most 3 h more")
                },
                "\(status.output)")
            let main = try await program.running("main", "--insist", "--json") { main in
                try await main.untilOutput(has: 1)
                try main.send(.terminate)
            }
            #expect(main.status == 0, "\(main.errors)")
            #expect(try main.objects().first?["event"] == .text("owning"))
        }
        #expect(owner.status == 0 && owner.output == "busy\nstopped insisted")
        #expect(try await program.run("check").status == 0)
    }

    @Test("A second Main takes over when told to, and the first one says so (contract C14)")
    func takeOver() async throws {
        let program = try HostProgram()
        let first = try await program.running("main", "--json") { first in
            try await first.untilOutput(has: 1)
            let second = try await program.running("main", "--take-over", "--json") { second in
                try await second.untilOutput(has: 1)
                try await first.untilOutput(has: 2)
                try second.send(.interrupt)
            }
            #expect(second.status == 0)
        }
        #expect(first.status == 1)
        #expect(try first.objects().last == ["event": .text("superseded")])
    }

    @Test(
        "A killed Main is not believed by the very next look (contract C6, L3, scenario 11)",
        arguments: ["file", "zmq"])
    func killed(backend: String) async throws {
        try await HostProgram.using(backend) { try await killed($0) }
    }

    private func killed(_ program: HostProgram) async throws {
        try prepare(program)
        try drop("After all", id: "4@x", for: program)
        _ = try await program.running("main", "--json") { main in
            try await main.untilOutput(has: 1)
            try main.send(.kill)
        }
        #expect(try await program.run("status", "--json").objects().first?["owner"] == .null)
        let ended = try await program.run("executor", "--call-id", "4@x", "--timeout", "200s", "--json")
        #expect(ended.status == 0)
        #expect(try ended.objects().first?["text"] == .text("After all"))
        #expect(try await program.run("check").status == 0)
    }

    /// Calls `body` with a program that has a hub at a port, with leases of 3 s.
    private func withLeases(_ body: @escaping @Sendable (HostProgram) async throws -> Void) async throws {
        try await HostProgram.using("zmq") { original in
            var changed = original
            let port = UInt16.random(in: 20_000..<30_000)
            changed.environment["SHAREDCORE_ZMQ_ENDPOINT"] = "tcp://127.0.0.1:\(port)"
            changed.environment["SHAREDCORE_ZMQ_HUB"] = "none"
            changed.environment["SHAREDCORE_ZMQ_LEASE"] = "3s"
            let program = changed
            try await program.running("hub") { hub in
                try await hub.untilErrors(contain: "listens at tcp://127.0.0.1:\(port)")
                try await body(program)
                try hub.send(.terminate)
            }
        }
    }

    @Test(
        "The session of an Executor that was stopped for longer than its lease is over: that answers no push"
    )
    func executorStoppedPastLease() async throws {
        try await withLeases { program in
            try prepare(program)
            let ended = try await program.running("executor", "--call-id", "never@x", "--timeout", "1h", "--json") {
                executor in
                func owner() async throws -> JSONField? {
                    try await program.run("status", "--json").objects().first?["owner"]
                }
                try await eventually("it owns", timeout: TestTimeout.long) { try await owner() != .null }
                try executor.send(.suspend)
                try await eventually("its lease is over", timeout: TestTimeout.long) { try await owner() == .null }
                try executor.send(.resume)
            }
            #expect(ended.status == 69, "\(ended)")
            #expect(ended.output.isEmpty && ended.errors.contains("The session is over"), "\(ended)")
        }
    }

    @Test("The core of a Main that was stopped for longer than its lease is superseded, and no overlap (contract C15)")
    func stoppedPastLease() async throws {
        try await withLeases { program in
            _ = try await program.running("main", "--json") { first in
                try await first.untilOutput(has: 1)
                try first.send(.suspend)
                let second = try await program.running("main", "--json") { second in
                    try await second.untilOutput(has: 1)
                    try second.send(.terminate)
                }
                #expect(second.status == 0, "\(second.errors)")
                let check = try await program.run("check", "--json")
                let counts = try #require(try check.objects().last)
                #expect(check.status == 0, "\(counts)")
                #expect(counts["overlaps"] == .number(0) && counts["supersededOverlaps"] == .number(1), "\(counts)")
                try first.send(.resume)
            }
        }
    }

    @Test("The timeline shows the past entries, and new ones while it is followed (contract C15)")
    func timeline() async throws {
        let program = try HostProgram()
        try prepare(program)
        try drop("First", id: "5@x", for: program)
        _ = try await program.run("executor", "--call-id", "5@x", "--timeout", "200s")
        let told = try await program.run("timeline", "--json").objects()
        #expect(told.first?["event"] == .text("acquired") && told.first?["role"] == .text("executor"))
        #expect(told.contains { $0["event"] == .text("released") })
        let sentences = try await program.run("timeline").output
        #expect(sentences.split(separator: "\n").count == told.count)
        #expect(sentences.contains("owns the core now"))

        let followed = try await program.running("timeline", "--follow", "--json") { follower in
            try await follower.untilOutput(has: told.count)
            try drop("Second", id: "6@x", for: program)
            _ = try await program.run("executor", "--call-id", "6@x", "--timeout", "200s")
            try await eventually("the second Executor's release", timeout: TestTimeout.long) {
                try follower.objects().count { $0["event"] == .text("released") } == 2
            }
            try follower.send(.terminate)
        }
        #expect(followed.status == 0)
    }

    @Test(
        "A Main whose group is taken away under it stops its core and ends with status 69 (contract S14)",
        arguments: ["sessions", "journal-1"])
    func lostGroup(name: String) async throws {
        let program = try HostProgram()
        try prepare(program)
        let main = try await program.running("main", "--json") { main in
            try await main.untilOutput(has: 1)
            // A tool that restores a backup does the same: a copy takes the name.
            let path = program.directory.path(of: "state/sharedcore/default/\(name)")
            try FileManager.default.copyItem(atPath: path, toPath: path + ".copy")
            try #require(rename(path + ".copy", path) == 0)
            // The idle poll of the Main, every 10 s, notices that.
        }
        #expect(main.status == 69)
        #expect(try main.objects().last?["event"] == .text("sessionEnded"))
    }

    @Test("status says that the owner's process is stopped", arguments: HostProgram.backends)
    func stopped(backend: String) async throws {
        try await HostProgram.using(backend) { program in
            try await program.running("exclusive", "--", "sleep", "600") { exclusive in
                try await eventually("it owns", timeout: TestTimeout.long) {
                    try await program.run("status").output.contains("running")
                }
                func owner() async throws -> (line: String, isStopped: JSONField?) {
                    let lines = try await program.run("status").output.split(separator: "\n")
                    guard case .object(let owner)? = try await program.run("status", "--json").objects().first?["owner"]
                    else { return ("", nil) }
                    return (lines.first { $0.hasPrefix("owner ") }.map(String.init) ?? "", owner["processStopped"])
                }
                let running = try await owner()
                #expect(running.line.contains(", running, pid ") && running.isStopped == .flag(false), "\(running)")
                #expect(kill(exclusive.pid, SIGSTOP) == 0)
                try await eventually("it is stopped") {
                    let stopped = try await owner()
                    return stopped.line.contains(", running (its process is stopped), pid ")
                        && stopped.isStopped == .flag(true)
                }
                #expect(kill(exclusive.pid, SIGCONT) == 0)
                try exclusive.send(.terminate)
            }
        }
    }
}
