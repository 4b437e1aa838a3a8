internal import BackendRegistry
internal import Coordination
internal import CoreAPI
internal import CoreAPITesting
internal import FoundationEssentials
internal import Glibc
internal import Mailboxes
internal import Platform
internal import Subprocess
internal import TestSupport
internal import Testing
internal import ZMQBackend

@testable internal import SharedCoreHost

@Suite("P11: what stands in a message costs an Executor neither its memory nor its life", .serialized)
struct HostileMailTests {
    private static let head = "From: ann@example.org\nTo: bob@example.org\nCall-ID: a@b\n"
    private static let mebibyte = 1 << 20

    /// A message, and the event that its push ends with.
    struct Sample: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let rest: @Sendable () -> String
        var event = "message"
        /// The event where the text is too large for a smaller memory.
        var eventOfLittleMemory: String?
    }

    private static func times(_ unit: String, _ byteCount: Int) -> String {
        String(repeating: unit, count: byteCount / unit.utf8.count)
    }

    static let samples = [
        Sample(testDescription: "796 KB of headers") { times("X:\n", 796_000) + "\nhi\n" },
        Sample(testDescription: "a header of 30 MiB") { "Subject: " + times("x", 30 * mebibyte) + "\n\nhi\n" },
        Sample(testDescription: "a folded header of 30 MiB") {
            "Subject: " + times(String(repeating: "x", count: 70) + "\n ", 30 * mebibyte) + "\n\nhi\n"
        },
        Sample(testDescription: "8 MiB of parameters") {
            "Content-Type: text/plain; " + times("a=b;", 8 * mebibyte) + "\n\nhi\n"
        },
        Sample(testDescription: "8 MiB of encoded words") {
            "Subject: " + times("=?utf-8?q?a?= ", 8 * mebibyte) + "\n\nhi\n"
        },
        Sample(testDescription: "two million addresses") { "Cc: " + times("a@b,", 8 * mebibyte) + "\n\nhi\n" },
        Sample(testDescription: "49,000 parts") {
            "Content-Type: multipart/mixed; boundary=b\n\n" + String(repeating: "--b\n\n", count: 49_000)
        },
        Sample(
            testDescription: "five million parts with nothing to show",
            rest: {
                "Content-Type: multipart/mixed; boundary=b\n\n" + times("--b\nContent-Type: a/b\n\n", 30 * mebibyte)
            },
            event: "nothing"),
        Sample(testDescription: "30 MiB before the first part") {
            "Content-Type: multipart/mixed; boundary=b\n\n"
                + times(String(repeating: "y", count: 70) + "\n", 30 * mebibyte)
                + "--b\n\nhi\n--b--\n"
        },
        Sample(
            testDescription: "5,000 levels",
            rest: {
                (0..<5_000).map { "Content-Type: multipart/mixed; boundary=b\($0)\n\n--b\($0)\n" }.joined()
            }, event: "nothing"),
        Sample(
            testDescription: "100 levels of alternatives with 8 KiB of parameters each",
            rest: {
                (0..<99).map {
                    "Content-Type: multipart/alternative; boundary=b\($0)\n\n--b\($0)\n"
                        + "Content-Type: text/html; \(times("a=b;", 8_000))\n\nx\n--b\($0)\n"
                }.joined() + "\nhi\n"
            }),
        Sample(
            testDescription: "a text of one MiB of control characters",
            rest: { "\n" + times("\u{1}", mebibyte - 2_000) }, eventOfLittleMemory: "tooLarge"),
        Sample(
            testDescription: "one line of 16 MiB in base64",
            rest: { "Content-Transfer-Encoding: base64\n\n" + times("QUJD", 16 * mebibyte) }, event: "tooLarge"),
        Sample(testDescription: "a text of 12 MiB", rest: { "\n" + times("x", 12 * mebibyte) }, event: "tooLarge"),
        Sample(
            testDescription: "one MiB of HTML",
            rest: { "Content-Type: text/html\n\n" + times("<b>&lt;x", mebibyte - 9_000) },
            eventOfLittleMemory: "tooLarge"),
    ]

    @Test(
        "An Executor has less than executor.memory at every moment, and answers its push with 20 s of processor time",
        arguments: TestScope.isCheck ? samples : Array(samples.suffix(6)), TestScope.isCheck ? [24, 8] : [8])
    func memory(_ sample: Sample, mebibytes: UInt64) async throws {
        let program = try HostProgram(named: "sharedcore-executor")
        try program.makeDirectory("mail/new")
        try program.write(Self.head + sample.rest(), to: "mail/new/1")
        let child = try ChildProcess(
            try program.path,
            [
                "--directory", program.directory.path(of: "group"), "--maildir", program.directory.path(of: "mail"),
                // As long as the push waits, also on a busy machine, so that no other participant takes over.
                "--call-id", "a@b", "--timeout-ms", "200000", "--budget-ms", "200000",
                "--memory-bytes", "\(mebibytes << 20)",
            ])
        let (most, time) = try await Self.mostMemory(of: child)
        #expect(await child.end() == .exited(0))
        #expect(time > .zero && time < .seconds(20), "\(time)")
        let event = mebibytes < 24 ? sample.eventOfLittleMemory ?? sample.event : sample.event
        #expect(child.lines.first?.hasPrefix("{\"event\":\"\(event)\"") == true, "\(child.lines)")
        #expect(most > 0 && most < mebibytes << 20, "\(most >> 10) KiB")
    }

    @Test(
        "Behind a hub, with as much content as the host and the cores put there, it has less than executor.memory",
        arguments: samples.filter { $0.event == "message" && $0.eventOfLittleMemory != nil },
        TestScope.isCheck ? [24, 20] : [20])
    func memoryBehindHub(_ sample: Sample, mebibytes: UInt64) async throws {
        try await HostProgram.using("zmq") { program in
            var program = program
            program.environment["SHAREDCORE_EXECUTOR_MEMORY"] = "\(mebibytes)MiB"
            program.environment["SHAREDCORE_CORE_MAILDIR"] = program.directory.path(of: "mail")
            try program.makeDirectory("mail/new")
            try program.write(Self.head + sample.rest(), to: "mail/new/1")
            #expect(try await program.run("store", "put", "first", "1").status == 0)
            let group = try await ZMQGroup.open(HubEndpoint("ipc://\(program.socket)"), group: "default")
            // A 24th of pushes, and as much of messages beside this one.
            let part = Int(mebibytes) << 20 / 24
            for index in 0..<(part / (7 << 10)) {
                try await group.put(Key("content/\(index)"), Array(repeating: 0x79, count: 7 << 10))
            }
            try await group.put("content", Array(repeating: 0x79, count: part))
            await group.close()
            let child = try ChildProcess(
                try program.path, ["--json", "executor", "--call-id", "a@b", "--timeout", "200s"],
                environment: program.variables)
            let (most, _) = try await Self.mostMemory(of: child)
            #expect(await child.end() == .exited(0))
            // A text has a 32nd of the memory there, which both samples exceed.
            let event = sample.eventOfLittleMemory ?? sample.event
            #expect(
                child.lines.first?.hasPrefix("{\"event\":\"\(event)\"") == true, "\(child.lines.map { $0.prefix(200) })"
            )
            #expect(most > 0 && most < mebibytes << 20, "\(most >> 10) KiB")
        }
    }

    /// Watches a process to its end, and returns its highest private memory and its processor time.
    private static func mostMemory(of child: ChildProcess) async throws -> (most: UInt64, time: Duration) {
        let identity = try #require(ProcessIdentity(of: child.pid))
        let pages = try OpenFile(path: "/proc/\(child.pid)/statm", .read)
        return await SerialThread(name: "memory").run {
            var (most, time) = (UInt64(0), Duration.zero)
            var count = 0
            while child.ended == nil {
                // The figures that take long to read, swapped memory and the memory of children, are read seldom.
                let isWhole = count.isMultiple(of: 64)
                most = max(most, (isWhole ? ProcessMemory.ownByteCount(of: identity) : ownByteCount(pages)) ?? 0)
                time = max(time, processorTime(of: child.pid) ?? .zero)
                count += 1
                usleep(500)
            }
            return (most, time)
        }
    }

    /// The resident private memory by a file `statm`, which is one line of numbers.
    private static func ownByteCount(_ pages: OpenFile) -> UInt64? {
        guard let line = try? pages.read(count: 128, at: 0) else { return nil }
        let words = line.split(separator: UInt8(ascii: " "), maxSplits: 3)
        guard words.count == 4 else { return nil }
        let counts = words[1...2].map { $0.reduce(0 as UInt64) { $0 * 10 + UInt64($1 - UInt8(ascii: "0")) } }
        return (counts[0] - min(counts[0], counts[1])) * UInt64(sysconf(Int32(_SC_PAGESIZE)))
    }

    /// The processor time that a process has used; nil when it is gone.
    private static func processorTime(of pid: Int32) -> Duration? {
        var clock = clockid_t()
        var time = timespec()
        guard clock_getcpuclockid(pid, &clock) == 0, clock_gettime(clock, &time) == 0 else { return nil }
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    @Test(
        "However many files stand in new, no Executor has too much memory, and none stops a push",
        arguments: ["", "Message-ID: <%@@spam>\nFrom: a@b\n\nx\n"])
    func flood(_ text: String) async throws {
        var program = try HostProgram()
        let count = TestScope.isCheck ? 20_000 : text.isEmpty ? 6_000 : 1_000
        let folder = program.directory.path(of: "state/sharedcore/default/Maildir")
        program.environment["SHAREDCORE_PUSH_MAILDIR"] = folder
        program.environment["SHAREDCORE_EXECUTOR_MEMORY"] = "8MiB"
        program.environment["SHAREDCORE_EXECUTOR_LIMIT"] = "4"
        // The first of the valid names, or the last of the empty ones.
        let name = text.isEmpty ? "9good" : "0good"
        try program.deliver("\(name)@x")
        for number in 0..<count {
            let bytes = Array(text.replacing("%@", with: "\(number)").utf8)
            try OpenFile(path: folder + "/new/\(1_000_000 + number)", .createNew).write(bytes, at: 0)
        }
        try await ServingHost.serve(program) { host in
            try await host.until("served", of: "\(name)@x")
            if !text.isEmpty { try await host.untilServed(TestScope.isCheck ? 200 : 20) }
            let ends = try host.events("ended")
            #expect(!ends.isEmpty && ends.allSatisfy { $0["reason"] != .text("memory") }, "\(ends.count)")
            #expect(try host.events("givenUp").isEmpty)
        }
    }

    @Test("796 KB of headers stop no push of a host that allows 24 MiB")
    func host() async throws {
        var program = try HostProgram()
        // Long, for a busy machine: this test concerns memory alone.
        program.environment["SHAREDCORE_EXECUTOR_BUDGET"] = "200s"
        let folder = "state/sharedcore/default/Maildir"
        try program.deliver("2@x")
        try program.write(Self.head + Self.times("X:\n", 796_000) + "\nhi\n", to: folder + "/new/0-hostile")
        try await ServingHost.serve(program) { [program] host in
            for callID in ["2@x", "a@b"] {
                #expect(try await program.run("push", callID).status == 0)
                try await host.until("served", of: callID)
            }
            #expect(try host.events("givenUp").isEmpty && host.events("postponed").isEmpty)
        }
    }

    @Test("A message whose reading ends its process is set aside after three, listed, and tried again when told to")
    func poison() async throws {
        var program = try HostProgram()
        let folder = "state/sharedcore/default/Maildir"
        try program.deliver("1@x")
        program.environment["SHAREDCORE_EXECUTOR_RETRY_DELAY"] = "10ms"
        var dying = program
        dying.environment["SHAREDCORE_FAIL_POINT"] = "maildir.reading:kill"
        for _ in 0..<3 {
            #expect(try await dying.run("executor", "--call-id", "1@x", "--timeout", "60s").status != 0)
        }
        // The fourth Executor does not read the message any more, because it would die as well.
        let fourth = try await dying.run("executor", "--call-id", "1@x", "--timeout", "60s", "--json")
        #expect(fourth.status == 0, "\(fourth.errors)")
        #expect(try fourth.objects().first?["event"] == .text("nothing"))
        #expect(TemporaryDirectory.names(in: program.directory.path(of: folder + "/.Poison/new")) == ["1x"])
        let listed = try await program.run("maildir", "--json").objects()
        #expect(listed.count == 1 && listed[0]["kind"] == .text("poison") && listed[0]["file"] == .text("1x"))
        #expect(try await program.run("maildir", "--retry", "poison", "--json").objects().first?["count"] == .number(1))
        #expect(TemporaryDirectory.names(in: program.directory.path(of: folder + "/new")) == ["1x"])
        #expect(try await program.run("maildir").output.isEmpty)
        let shown = try await program.run("executor", "--call-id", "1@x", "--timeout", "60s", "--json")
        #expect(try shown.objects().first?["event"] == .text("message"), "the notice in its place is forgotten")
        #expect(try await program.run("maildir", "--retry", "all").status == 64)
        program.environment["SHAREDCORE_CORE_MAILDIR"] = program.directory.path(of: "nowhere")
        for arguments in [["maildir"], ["maildir", "--retry", "poison"]] {
            #expect(try await program.run(arguments).status == 69)
        }
    }

    @Test("A message whose reading has ended one process is shown, however many are killed behind counting that")
    func countedOnce() async throws {
        let program = try HostProgram()
        try program.deliver("1@x")
        for place in ["maildir.reading", "maildir.counted", "maildir.counted"] {
            var dying = program
            dying.environment["SHAREDCORE_FAIL_POINT"] = "\(place):kill"
            #expect(try await dying.run("executor", "--call-id", "1@x", "--timeout", "60s").status != 0)
        }
        let shown = try await program.run("executor", "--call-id", "1@x", "--timeout", "60s", "--json")
        #expect(try shown.objects().first?["event"] == .text("message"), "\(shown)")
    }

    @Test("A text over a 24th of executor.memory is too large for an Executor of either program and for a Main")
    func textOfMemory() async throws {
        let mail = Self.head + "\n" + Self.times("x", 700_000) + "\n"
        let memories = [("16MiB", "tooLarge"), ("24MiB", "message"), ("none", "message")]
        for (memory, event) in TestScope.isCheck ? memories : [memories[0], memories[1]] {
            var program = try HostProgram()
            program.environment["SHAREDCORE_EXECUTOR_MEMORY"] = memory
            program.environment["SHAREDCORE_CORE_MAILDIR"] = program.directory.path(of: "mail")
            let arguments = ["--timeout", "60s", "--call-id", "a@b", "--json"]
            try program.makeDirectory("mail/new")
            try program.write(mail, to: "mail/new/1")
            let own = try await program.run(["executor"] + arguments)
            #expect(try own.objects().first?["event"] == .text(event), "\(memory)")

            let slim = HostProgram(named: "sharedcore-executor", in: program.directory)
            try program.write(mail.replacing("a@b", with: "b@b"), to: "mail/new/2")
            let bytes = memory == "none" ? memory : "\(Int(memory.dropLast(3)).map { $0 << 20 } ?? 0)"
            let ended = try await slim.run([
                "--directory", program.directory.path(of: "slim"), "--maildir", program.directory.path(of: "mail"),
                "--timeout-ms", "60000", "--call-id", "b@b", "--memory-bytes", bytes,
            ])
            #expect(try ended.objects().first?["event"] == .text(event), "\(memory)")

            try program.write(mail.replacing("a@b", with: "c@b"), to: "mail/new/3")
            try await program.running(["main", "--json"]) { [directory = program.directory] running in
                try await eventually("Main has dealt with it", timeout: TestTimeout.long) {
                    TemporaryDirectory.names(in: directory.path(of: "mail/new")).isEmpty
                }
                try running.send(.terminate)
            }
            let folder = event == "tooLarge" ? "mail/.Oversized/new" : "mail/cur"
            #expect(TemporaryDirectory.names(in: program.directory.path(of: folder)).count == 3, "\(memory)")
        }
        let usage = try await HostProgram(named: "sharedcore-executor").run([
            "--directory", "/d", "--maildir", "/m", "--timeout-ms", "1", "--call-id", "a", "--memory-bytes", "much",
        ])
        #expect(usage.status == 64)
    }

    @Test("A retry makes no group, such as one whose name was mistyped")
    func absentGroup() async throws {
        var program = try HostProgram()
        program.environment["SHAREDCORE_CORE_MAILDIR"] = program.directory.path(of: "mail")
        try program.makeDirectory("mail/.Malformed/new")
        try program.write(Self.head + "\nhi\n", to: "mail/.Malformed/new/1")
        // The command works also where there is no message of the kind.
        for kind in ["malformed", "poison"] {
            let refused = try await program.run("maildir", "--retry", kind, "--group", "mistyped")
            #expect(refused.status == 1 && refused.errors.contains("there is no such group"), "\(refused.errors)")
        }
        #expect(TemporaryDirectory.names(in: program.directory.path(of: "mail/.Malformed/new")) == ["1"])
        #expect(TemporaryDirectory.names(in: program.directory.path(of: "state/sharedcore")).isEmpty)
    }

    @Test("A message whose record is damaged, or that the inbox has, stays and is named; the others are tried again")
    func partialRetry() async throws {
        var program = try HostProgram()
        program.environment["SHAREDCORE_CORE_MAILDIR"] = program.directory.path(of: "mail")
        #expect(try await program.run("store", "put", "key", "value").status == 0)
        try program.makeDirectory("mail/.Malformed/new")
        for (name, callID) in [("1", "damaged@x"), ("2", "received@x"), ("3", "free@x")] {
            let mail = Self.head.replacing("a@b", with: callID) + "\nhi\n"
            try program.write(mail, to: "mail/.Malformed/new/" + name)
        }
        let group = try await BackendRegistry.bundled().open(
            BackendConfiguration(
                backend: "file", group: "default", stateDirectory: program.directory.path(of: "state/sharedcore")))
        let inbox = try Inbox(group)
        _ = try await group.put(inbox.mailbox.keys.key(of: .message, for: ItemName("damaged@x")), [9])
        let received = try #require(CallID("received@x"))
        try await inbox.store(InboxMessage(callID: received, content: .text(from: "ann", to: "bob", text: "hi")))
        let retried = try await program.run("maildir", "--retry", "malformed", "--json")
        #expect(retried.status == 0, "\(retried.errors)")
        let lines = try retried.objects()
        #expect(lines.map { $0["event"] } == [.text("stays"), .text("stays"), .text("retried")], "\(retried.output)")
        #expect(lines.map { $0["file"] } == [.text("1"), .text("2"), nil])
        #expect(lines.last?["count"] == .number(1) && lines.last?["left"] == .number(2))
        #expect(TemporaryDirectory.names(in: program.directory.path(of: "mail/.Malformed/new")).sorted() == ["1", "2"])
        #expect(TemporaryDirectory.names(in: program.directory.path(of: "mail/new")) == ["3"])
        let again = try await program.run("maildir", "--retry", "malformed")
        #expect(again.output.hasSuffix("0 messages are tried again. 2 stay.\n"), "\(again.output)")
        await group.close()
    }

    @Test("Messages that were set aside are listed with escaped names; a path that is no Maildir is status 69")
    func listing() async throws {
        var program = try HostProgram()
        program.environment["SHAREDCORE_CORE_MAILDIR"] = program.directory.path(of: "mail")
        #expect(try await program.run("maildir").output.isEmpty, "there is no Maildir yet")
        try program.makeDirectory("mail/.Malformed/new")
        try program.write("x", to: "mail/.Malformed/new/a\u{1b}[31m")
        let ended = try await program.run("maildir")
        #expect(ended.output == "malformed\t1\ta\\u{1B}[31m\n")
        program.environment["SHAREDCORE_CORE_MAILDIR"] = "/dev/null"
        #expect(try await program.run("maildir").status == 69)
    }
}
