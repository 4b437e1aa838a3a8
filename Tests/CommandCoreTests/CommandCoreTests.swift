internal import BundledHarnesses
internal import Coordination
internal import CoreAPI
internal import CoreAPITesting
internal import FileNotifyBackend
internal import InMemoryBackend
internal import Platform
internal import TestSupport
internal import Testing

@testable internal import CommandCore

/// Programs in Python as the core of participants here.
@Suite("Any program as a core (contract P14)")
struct CommandCoreTests {
    /// The backend of a test's group.
    enum Place: Sendable, CaseIterable {
        case memory, files
        #if ZMQ
            case hub
        #endif
    }

    private let script: PythonCore
    private let directory: TemporaryDirectory
    private let space = MemorySpace()
    #if ZMQ
        private let hub = LazyHub()
    #endif

    init() throws {
        script = try PythonCore()
        directory = try TemporaryDirectory()
    }

    private func open(_ place: Place = .memory, as role: SessionRole, _ name: String) async throws -> any SharedGroup {
        let description = SessionDescription(role: role, name: name)
        return switch place {
        case .memory: try await space.open("group", as: description)
        case .files: try await FileGroup.open(directory: directory.path(of: "group"), as: description)
        #if ZMQ
            case .hub: try await hub.open(as: description)
        #endif
        }
    }

    /// Makes a Main with the script as its core, in a mode.
    private func main(
        _ command: [String], of group: any SharedGroup, startTimeout: Duration = TestTimeout.long,
        stopTimeout: Duration = TestTimeout.long
    ) throws -> MainParticipant {
        // A slow machine takes its time; no test waits for these unless it says so.
        let options = CoordinationOptions(handoverTimeout: TestTimeout.long, stopTimeout: stopTimeout)
        return try MainParticipant(of: group, options: options) {
            CommandCore(command, startTimeout: startTimeout, log: { _ in })
        }
    }

    /// The core ends when the test closes its participant, because its program goes on after the answer that a call
    /// waits for.
    private let scriptPaced = CoordinationOptions(
        executorBudget: TestTimeout.long, coreLinger: TestTimeout.long, stopTimeout: TestTimeout.long)

    private func isGone(_ pid: Int32) -> Bool {
        guard let identity = ProcessIdentity(of: pid), let handle = try? ProcessHandle(identity) else { return true }
        return handle.hasEnded
    }

    private struct NoMessage: Error {}

    private func callID(_ text: String) throws -> CallID { try #require(CallID(text)) }

    /// The reasons that the timeline has.
    private func told(_ group: any SharedGroup) async throws -> [String] {
        try await Timeline(group).history().records.map(\.entry.reason)
    }

    @Test("A message is stored, and the program is told so only then (C8)", arguments: Place.allCases)
    func delivers(place: Place) async throws {
        let group = try await open(place, as: .executor, "executor")
        let executor = try ExecutorParticipant(of: group) { [script] in
            CommandCore(script.command("ordinary", "a=hello", "a=again"))
        }
        let answer = try await executor.message(forCallID: callID("a"), timeout: TestTimeout.long)
        guard case .message(let message) = answer.content else { throw NoMessage() }
        #expect(message.message.content == .text(from: "ann", to: "bob", text: "hello"))
        try await executor.acknowledge(message)
        await executor.finish()
        await executor.close()
        #expect(script.notes().filter { $0.hasPrefix("delivered") } == ["delivered a stored", "delivered a duplicate"])
        #expect(try await script.untilNote("stop").first == "served")
        #expect(script.notes().last == "stopped")
    }

    @Test("A message has all that the program gives it, and a sequence (C20, C21)", arguments: Place.allCases)
    func deliversOpen(place: Place) async throws {
        let content = InboxMessage.Content(
            kind: try #require(InboxMessage.Kind("reaction")), sender: "ann", text: "Ann likes it",
            contentType: "application/json", body: [0, 255], account: "work", conversation: "tea",
            time: .milliseconds(1500), fields: ["emoji": "👍"])
        let executor = try ExecutorParticipant(
            of: try await open(place, as: .executor, "executor"), options: scriptPaced
        ) { [script] in
            CommandCore(
                script.command(
                    "ask",
                    """
                    deliver {"callID":"a","sequence":"2","kind":"reaction","from":"ann","text":"Ann likes it",\
                    "contentType":"application/json","body":"AP8=","account":"work","conversation":"tea",\
                    "timeMs":1500,"fields":{"emoji":"👍"}}
                    """,
                    #"deliver {"callID":"a","sequence":"1","from":"ann","to":"bob","text":"first"}"#,
                    #"deliver {"callID":"a","sequence":"2","kind":"nothing"}"#), log: { _ in })
        }
        let id = try #require(MessageID(callID("a"), sequence: "2"))
        let answer = try await executor.message(for: id, timeout: TestTimeout.long)
        guard case .message(let message) = answer.content else { throw NoMessage() }
        #expect(message.message == InboxMessage(id: id, content: content))
        _ = try await script.untilNote("asked")
        #expect(try await executor.acknowledge(message))
        await executor.close()
        let answers = ["stored", "stored", "duplicate"].map { "answer deliver \($0)" }
        #expect(script.notes().filter { $0.hasPrefix("answer") } == answers)
    }

    @Test(
        "A program updates a message, and takes it back, and hears what became of it (C22)", arguments: Place.allCases)
    func changes(place: Place) async throws {
        let executor = try ExecutorParticipant(
            of: try await open(place, as: .executor, "executor"), options: scriptPaced
        ) { [script] in
            CommandCore(
                script.command(
                    "ask", #"update {"callID":"a","from":"ann","to":"bob","text":"too early"}"#,
                    #"deliver {"callID":"b","from":"ann","to":"bob","text":"first"}"#,
                    #"update {"callID":"b","from":"ann","to":"bob","text":"second"}"#,
                    #"deliver {"callID":"a","sequence":"1","from":"ann","to":"bob","text":"first"}"#, "await taken",
                    #"update {"callID":"a","from":"ann","to":"bob","text":"no sequence"}"#,
                    #"update {"callID":"a","sequence":"1","from":"ann","to":"bob","text":"edited"}"#,
                    "await again", #"withdraw {"callID":"a"}"#, #"withdraw {"callID":"a","sequence":"1"}"#,
                    #"update {"callID":"a","sequence":"1","from":"ann","to":"bob","text":"too late"}"#,
                    #"withdraw {"callID":"a","sequence":"1"}"#), log: { _ in })
        }
        let id = try #require(MessageID(callID("a"), sequence: "1"))
        for (text, file, count) in [("first", "notes.taken", 6), ("edited", "notes.again", 10)] {
            let answer = try await executor.message(for: id, timeout: TestTimeout.long)
            guard case .message(let message) = answer.content else { throw NoMessage() }
            #expect(message.message.content == .text(from: "ann", to: "bob", text: text))
            try script.touch(file)
            try await eventually("it is changed", timeout: TestTimeout.long) {
                script.notes().count { $0.hasPrefix("answer") } >= count
            }
            #expect(try await executor.acknowledge(message) == false)
        }
        #expect(try await executor.message(for: id, timeout: TestTimeout.long).content == .nothingToShow)
        await executor.close()
        #expect(
            script.notes().filter { $0.hasPrefix("answer") } == [
                "answer update absent", "answer deliver stored", "answer update changed", "answer deliver stored",
                "answer update absent", "answer update changedInHand", "answer withdraw absent",
                "answer withdraw changedInHand", "answer update over", "answer withdraw over",
            ])
    }

    @Test("An Executor's program hands over to a Main's, which starts when it is gone (C3)", arguments: Place.allCases)
    func handsOver(place: Place) async throws {
        let options = CoordinationOptions(
            handoverTimeout: TestTimeout.long, handoverMaximumTimeout: TestTimeout.long, stopTimeout: TestTimeout.long)
        let executor = try ExecutorParticipant(of: try await open(place, as: .executor, "executor"), options: options) {
            [script] in CommandCore(script.command("late", notes: "first"))
        }
        try await executor.start()
        let first = try await script.untilPid("runs", in: "first")
        let main = try main(script.command("ordinary"), of: try await open(place, as: .main, "the main"))
        try await main.start()
        #expect(isGone(first))
        #expect(try await script.untilNote("stop", in: "first").prefix(2) == ["handover", "the"])
        // C18: a message that comes while the core stops is stored.
        #expect(script.notes("first").contains("delivered late stored"))
        await main.stop()
        await executor.close()
        #expect(try await script.untilNote("stop").first == "closing")
    }

    @Test("Its environment has its epoch and role; it has three descriptors, and a session of its own")
    func environment() async throws {
        let group = try await open(as: .main, "main")
        let core = script.command("ordinary")
        let main = try MainParticipant(of: group) {
            CommandCore(core, variables: ["SHAREDCORE_GROUP": "g", "NOTIFY_SOCKET": "/given"], log: { _ in })
        }
        try await main.start()
        let epoch = try #require(await main.epoch)
        let pid = try await script.untilPid("runs")
        await main.stop()
        let notes = script.notes()
        #expect(notes.contains("environment SHAREDCORE_EPOCH \(epoch.rawValue)"))
        #expect(notes.contains("environment SHAREDCORE_ROLE main"))
        #expect(notes.contains("environment SHAREDCORE_GROUP g"))
        #expect(notes.contains("start \(epoch.rawValue) main None None"))
        #expect(notes.contains("runs \(pid) \(pid) \(pid)"))
        #expect(notes.contains("descriptors 0 1 2"))
        #expect(isGone(pid))
    }

    @Test("A push is in its environment and in what it is told at its start (P13)")
    func push() async throws {
        let group = try await open(as: .executor, "executor")
        let push = try Push(callID("a"), type: "call", account: "ann", payload: [0, 255])
        let inbox = CoreContext(
            store: group, epoch: Revision(rawValue: 7), role: .executor, push: push,
            acceptMessage: { _ throws(SharedCoreError) in .stored }, reportProblem: { _ in })
        let core = CommandCore(script.command("ordinary"), log: { _ in })
        try await core.start(in: inbox)
        await core.stop()
        let notes = script.notes()
        #expect(notes.contains("start 7 executor a AP8="))
        #expect(notes.contains("environment SHAREDCORE_PUSH_PAYLOAD AP8="))
    }

    @Test(
        "A program that is none, or does not start, fails its Main's start, with a code, and is gone",
        arguments: [
            ("die-at-once", "ended"), ("die-in-start", "ended"), ("refuse", "startRefused"), ("version", "version"),
            ("garbage-at-once", "malformed"), ("garbage-in-start", "malformed"), ("hang-start", "startTimeout"),
            ("absent", "notFound"), ("directory", "notExecutable"), ("text", "notExecutable"),
        ], Place.allCases)
    func failedStart(failing: (mode: String, code: String), place: Place) async throws {
        let (mode, code) = failing
        let group = try await open(place, as: .main, "main")
        let text = directory.path(of: "text")
        try OpenFile(path: text, .create).write(Array("#!/no/such/program\n".utf8), at: 0)
        let command =
            switch mode {
            case "absent": ["/no/such/program"]
            case "directory": [directory.path]
            case "text": [text]
            default: script.command(mode)
            }
        // No other has to be there in this time.
        let timeout = mode == "hang-start" ? Duration.seconds(3) : TestTimeout.long
        let main = try main(command, of: group, startTimeout: timeout)
        let error = await #expect(throws: CoordinationError.self) { try await main.start() }
        #expect(error?.code == .coreFailed)
        #expect(error?.message.contains("its core failed: \(code): ") == true, "\(error?.message ?? "")")
        await main.stop()
        if let pid = script.notes().first(where: { $0.hasPrefix("runs") })?.split(separator: " ")[1] {
            #expect(isGone(try #require(Int32(pid))))
        }
        #expect(try await told(group).contains { $0.contains("its core failed: \(code): ") })
    }

    @Test(
        "A program that dies or prints a line that is no message ends; the timeline says why, and the next one starts",
        arguments: [
            ("exit", "ended: the program exited with status 0"), ("die", "ended: the program exited with status 3"),
            ("kill", "ended: the program was killed by signal 9"), ("garbage", "malformed: "),
            ("number", "malformed: "), ("answer", "malformed: "), ("long", "tooLong: "), ("endless", "tooLong: "),
            ("close-output", "closed: "), ("close-input", "closed: "),
        ], Place.allCases)
    func failure(failing: (mode: String, reason: String), place: Place) async throws {
        let (mode, reason) = failing
        let group = try await open(place, as: .main, "main")
        let isFirst = Box(true)
        let main = try MainParticipant(of: group) { [script] in
            let first = isFirst.update { first in
                defer { first = false }
                return first
            }
            return CommandCore(
                first ? script.command(mode, "a=stored before", notes: "first") : script.command("ordinary", "a=again"),
                log: { _ in })
        }
        try await main.start()
        let pid = try await script.untilPid("runs", in: "first")
        #expect(try await script.untilNote("delivered") == ["a", "duplicate"], "nothing is lost, nothing twice")
        #expect(isGone(pid))
        await main.stop()
        let told = try await told(group)
        #expect(told.contains { $0.contains("its core failed: \(reason)") }, "\(told)")
        #expect(TimelineChecker.check(try await Timeline(group).history()).violations.isEmpty)
    }

    @Test(
        "A call that is open when its program dies, says what is no message, or hangs is lost, once (C23)",
        arguments: ["die", "kill", "garbage", "endless", "close-output"], Place.allCases)
    func failureInCall(mode: String, place: Place) async throws {
        let group = try await open(place, as: .main, "main")
        let isFirst = Box(true)
        let main = try MainParticipant(of: group) { [script] in
            let first = isFirst.update { first in
                defer { first = false }
                return first
            }
            return CommandCore(
                first
                    ? script.command("call-\(mode)", Self.beginCall("a"), notes: "first") : script.command("ordinary"),
                log: { _ in })
        }
        try await main.start()
        _ = try await script.untilNote("started")
        #expect(script.notes("first").contains("answer beginCall done"))
        let calls = try await Calls(group).list()
        #expect(calls.map(\.id.text) == ["a"] && calls.map(\.state) == [.ended(.lost)], "\(calls)")
        await main.stop()
        #expect(try await told(group).contains { $0.contains("its core failed: ") })
        #expect(TimelineChecker.check(try await Timeline(group).history()).violations.isEmpty)
    }

    @Test(
        "A program that is killed before it reads an answer loses nothing: the next one delivers again",
        arguments: Place.allCases)
    func unanswered(place: Place) async throws {
        let main = try main(script.command("unanswered", notes: "first"), of: try await open(place, as: .main, "main"))
        // The participant may be killed before its Main has seen that it started.
        _ = try? await main.start()
        _ = try await script.untilNote("started", in: "first")
        await main.stop()
        let options = CoordinationOptions(handoverTimeout: TestTimeout.long, stopTimeout: TestTimeout.long)
        let executor = try ExecutorParticipant(of: try await open(place, as: .executor, "executor"), options: options) {
            [script] in CommandCore(script.command("ordinary", "b=again"), log: { _ in })
        }
        let answer = try await executor.message(forCallID: callID("b"), timeout: TestTimeout.long)
        guard case .message(let message) = answer.content else { throw NoMessage() }
        let texts = ["last", "again"].map { InboxMessage.Content.text(from: "ann", to: "bob", text: $0) }
        #expect(texts.contains(message.message.content))
        try await executor.acknowledge(message)
        await executor.finish()
        await executor.close()
    }

    @Test(
        "A program that does not stop gets SIGTERM, then SIGKILL within its time, and the timeline says so",
        arguments: ["hang-in-stop", "term", "hang", "freeze", "garbage-in-stop", "die-in-stop"], Place.allCases)
    func stopping(mode: String, place: Place) async throws {
        let group = try await open(place, as: .main, "main")
        // A quarter of the timeout is left after the kill, for a slow machine.
        let main = try main(script.command(mode), of: group, stopTimeout: .seconds(40))
        try await main.start()
        let pid = try await script.untilPid("runs")
        _ = try await script.untilNote(mode == "hang" ? "hangs" : "started")
        if mode == "freeze" {
            try await eventually("it is stopped", timeout: TestTimeout.long) {
                ProcessIdentity(of: pid)?.isStopped == true
            }
        }
        await main.stop()
        #expect(isGone(pid))
        let notes = script.notes()
        #expect(notes.contains("term") == ["hang-in-stop", "term"].contains(mode))
        let told = try await told(group)
        #expect(
            told.contains { $0.contains("was killed") } == ["hang-in-stop", "garbage-in-stop"].contains(mode), "\(told)"
        )
        #expect(told.contains { $0.contains("got SIGTERM") } == ["term", "hang", "freeze"].contains(mode), "\(told)")
        #expect(TimelineChecker.check(try await Timeline(group).history()).violations.isEmpty)
    }

    @Test("There is time to tell of a stop, also where the program had to be killed or ended late")
    func tellingLimit() {
        func at(_ seconds: UInt64) -> BootInstant { BootInstant(nanoseconds: seconds * 1_000_000_000) }
        for (end, limit) in [(100, 107), (101, 107), (106, 107), (107, 108), (120, 121)] as [(UInt64, UInt64)] {
            #expect(CommandCore.tellingLimit(of: .seconds(8), from: at(100), ended: at(end)) == at(limit))
        }
    }

    @Test(
        "Processes that a program has started end with it, also in a session of their own", arguments: ["stop", "kill"])
    func forks(ending: String) async throws {
        let group = try await open(as: .main, "main")
        // One of the processes is known by its process group alone, one by its mark.
        let main = try main(script.command("fork-bare"), of: group)
        try await main.start()
        var pids: [Int32] = []
        for word in ["runs", "forked", "daemon", "bare"] { pids.append(try await script.untilPid(word)) }
        if ending == "kill" {
            // The process ends with the signal that the core was told to send: this is the core's own end, not that of
            // its session.
            _ = try ProcessHandle(try #require(ProcessIdentity(of: pids[0]))).signal(.kill)
            try await eventually("the timeline says so", timeout: TestTimeout.long) {
                try await told(group).contains { $0.contains("killed by signal 9") }
            }
        }
        await main.stop()
        for pid in pids { #expect(isGone(pid)) }
    }

    @Test(
        "Requests that it does not wait for are carried out in their order, one at a time", arguments: Place.allCases)
    func order(place: Place) async throws {
        let group = try await open(place, as: .main, "main")
        let (begun, gate) = (Box<[String]>([]), Promise<Void>())
        let context = CoreContext(
            store: group, epoch: Revision(rawValue: 7), role: .main,
            acceptMessage: { message throws(SharedCoreError) in
                begun.update { $0.append(message.callID.text) }
                await gate.pass()
                return .stored
            }, reportProblem: { _ in })
        let core = CommandCore(script.command("flood"), log: { _ in })
        try await core.start(in: context)
        // Requests that the core has not read wait in the script's pipe.
        try await eventually("more are sent than may be begun", timeout: TestTimeout.long) {
            !begun.value.isEmpty && script.notes().count { $0.hasPrefix("sent") } >= 100
        }
        #expect(begun.value == ["1"])
        gate.open()
        try await eventually("the rest is read", timeout: TestTimeout.long) { begun.value.count > 64 }
        let all = begun.value
        #expect(all == (1...all.count).map { "\($0)" })
        // The program reads neither answers nor the request to stop.
        await core.stop(StopRequest(.closing, within: .seconds(2)))
        #expect(isGone(try await script.untilPid("runs")))
    }

    @Test("Its own requests hold up no answer to a command for a call, and no stop")
    func commandBesideRequest() async throws {
        let gate = Promise<Void>()
        let store = InterposedStore(try await open(as: .main, "main")) { transaction throws(SharedCoreError) in
            if transaction.operations.contains(where: { $0.puts(below: Inbox.path) }) { await gate.pass() }
            return transaction
        }
        let main = try MainParticipant(
            of: store, options: CoordinationOptions(handoverTimeout: TestTimeout.long, stopTimeout: TestTimeout.long)
        ) { [script] in
            CommandCore(
                script.command(
                    "ask", Self.beginCall("a"), #"deliver {"callID":"b","from":"ann","to":"bob","text":"slow"}"#),
                log: { _ in })
        }
        try await main.start()
        let calls = Calls(try await open(as: .executor, "other"))
        try await eventually("the call is there", timeout: TestTimeout.long) { try await !calls.list().isEmpty }
        let error = await #expect(throws: CoordinationError.self) {
            try await calls.send(.decline, to: callID("a"), within: TestTimeout.long)
        }
        #expect(error?.code == .refused)
        async let stopped: Void = main.stop()
        let reason = try? await script.untilNote("stop").first
        gate.open()
        await stopped
        #expect(reason == "closing")
    }

    @Test(
        "With 32 requests unanswered, or with 4 MiB of them, no more is read",
        arguments: [(1 << 20, 5), (10 << 10, 200)], Place.allCases)
    func unansweredBound(bound: (padding: Int, most: Int), place: Place) async throws {
        let (padding, most) = bound
        let group = try await open(place, as: .main, "main")
        let (begun, gate) = (Box(0), Promise<Void>())
        let context = CoreContext(
            store: group, epoch: Revision(rawValue: 7), role: .main,
            acceptMessage: { _ throws(SharedCoreError) in
                begun.update { $0 += 1 }
                await gate.pass()
                return .stored
            }, reportProblem: { _ in })
        let core = CommandCore(script.command("big", "\(padding)"), log: { _ in })
        try await core.start(in: context)
        _ = try await script.untilNote("blocked")
        #expect(begun.value <= 1)
        // The requests that were read, and those that fit into the program's pipe.
        #expect(script.notes().count { $0.hasPrefix("sends") } <= most)
        gate.open()
        await core.stop(StopRequest(.closing, within: .seconds(2)))
        #expect(isGone(try await script.untilPid("runs")))
    }

    @Test("Wrong requests are answered with their error, and the program goes on")
    func refusals() async throws {
        let group = try await open(as: .main, "main")
        let lines = Box<[String]>([])
        let main = try MainParticipant(of: group) { [script] in
            CommandCore(script.command("unknown"), log: { line in lines.update { $0.append(line) } })
        }
        try await main.start()
        try await eventually("all are answered", timeout: TestTimeout.long) {
            script.notes().filter { $0.hasPrefix("error") }.count == 4
        }
        await main.stop()
        #expect(
            script.notes().filter { $0.hasPrefix("error") }
                == ["error -32601", "error -32602", "error -32602", "error limitExceeded"])
        try await eventually("the log has them", timeout: TestTimeout.long) {
            lines.value.count { $0.contains(" was refused: ") } == 4
        }
        #expect(lines.value.contains { $0.contains("“deliver” was refused: ") }, "\(lines.value)")
        #expect(script.notes().last == "stopped")
    }

    @Test(
        "A program that floods with requests, carried out or refused, is reported once and goes on",
        arguments: ["flood-carried-out", "flood-refused"], Place.allCases)
    func floods(mode: String, place: Place) async throws {
        let group = try await open(place, as: .main, "main")
        let main = try main(script.command(mode), of: group, stopTimeout: .seconds(8))
        try await main.start()
        let pid = try await script.untilPid("runs")
        try await eventually("the timeline says so", timeout: TestTimeout.long) {
            try await told(group).contains { $0.contains("has asked for more than was done") }
        }
        #expect(!isGone(pid))
        await main.stop()
        #expect(isGone(pid))
        #expect(try await told(group).count { $0.contains("has asked for more than was done") } == 1)
        #expect(TimelineChecker.check(try await Timeline(group).history()).violations.isEmpty)
    }

    @Test(
        "Reports beyond sixteen and one in each second are refused: the timeline keeps what matters",
        arguments: Place.allCases)
    func reports(place: Place) async throws {
        let group = try await open(place, as: .main, "main")
        let begin = ContinuousClock.now
        let main = try main(script.command("reports"), of: group)
        try await main.start()
        let refused = try #require(Int(try await script.untilNote("refused").first ?? ""))
        let most = 16 + Int(begin.duration(to: .now).components.seconds) + 1
        await main.stop()
        #expect(60 - refused >= 16 && 60 - refused <= most)
        #expect(try await told(group).count { $0.hasPrefix("problem ") } == 60 - refused)
    }

    @Test(
        "Its standard error becomes lines of bounded length and number, and what is left out is counted",
        arguments: Place.allCases)
    func errors(place: Place) async throws {
        let group = try await open(place, as: .main, "main")
        let lines = Box<[String]>([])
        let main = try MainParticipant(of: group) { [script] in
            CommandCore(script.command("errors"), log: { line in lines.update { $0.append(line) } })
        }
        try await main.start()
        _ = try await script.untilNote("wrote")
        await main.stop()
        let pid = try await script.untilPid("runs")
        try await eventually("the rest is told", timeout: TestTimeout.long) {
            lines.value.last?.contains("lines more") == true || lines.value.last?.hasSuffix("last") == true
        }
        #expect(lines.value.first == "core \(pid): trouble 0")
        #expect(lines.value.allSatisfy { $0.utf8.count < 1200 })
        let left = lines.value.compactMap { $0.firstMatch(of: #/… \(([0-9]+) lines more\)/#).flatMap { Int($0.1) } }
        #expect(left.reduce(0, +) + lines.value.count - left.count == 100_002)
        #expect(left.reduce(0, +) > 10_000)
    }

    @Test("A Main's request waits for an activity that it has begun (C17)")
    func activity() async throws {
        let options = CoordinationOptions(
            handoverTimeout: TestTimeout.long, handoverMaximumTimeout: TestTimeout.long, stopTimeout: TestTimeout.long)
        let executor = try ExecutorParticipant(of: try await open(as: .executor, "executor"), options: options) {
            [script] in CommandCore(script.command("activity", notes: "first"), log: { _ in })
        }
        try await executor.start()
        #expect(try await script.untilNote("began", in: "first") == ["True"])
        let main = try main(script.command("ordinary"), of: try await open(as: .main, "main"))
        let waits = Box(false)
        let starting = Task {
            try await main.start(reporting: { reason in if case .activity = reason { waits.update { $0 = true } } })
        }
        try await eventually("it waits for the activity", timeout: TestTimeout.long) { waits.value }
        #expect(!script.notes("first").contains { $0.hasPrefix("stop") })
        try script.touch("first.end")
        try await starting.value
        // The stop may come before the answer to the end.
        let notes = script.notes("first")
        let ends = try #require(notes.firstIndex(of: "ends"))
        #expect(notes.dropFirst(ends + 1).first == "stop handover main 240000")
        await main.stop()
        await executor.close()
    }

    @Test("Processes that a former core has left are ended before the next one starts, with their children")
    func leftover() async throws {
        let group = try await open(as: .main, "main")
        let context = { @Sendable (epoch: UInt64) in
            CoreContext(
                store: group, epoch: Revision(rawValue: epoch), role: .main,
                acceptMessage: { _ throws(SharedCoreError) in .stored }, reportProblem: { _ in })
        }
        // Like a participant that is frozen or has released its ownership: nothing stops its core.
        let former = CommandCore(script.command("fork", notes: "first"), log: { _ in })
        try await former.start(in: context(5))
        let pids = [
            try await script.untilPid("runs", in: "first"), try await script.untilPid("forked", in: "first"),
            try await script.untilPid("daemon", in: "first"),
        ]
        let next = CommandCore(script.command("ordinary"), log: { _ in })
        try await next.start(in: context(6))
        for pid in pids { #expect(isGone(pid)) }
        await next.stop()
        await former.stop()
        #expect(try await group.list(".sharedcore/exclusive/").entries.isEmpty)
    }

    @Test("It is told to start only under its note: one whose participant is killed before that never connects")
    func noted() async throws {
        let group = try await open(as: .main, "main")
        let store = InterposedStore(group) { _ throws(SharedCoreError) in
            throw SharedCoreError(.unavailable, "The note cannot be written.", at: "test")
        }
        let core = CommandCore(script.command("ordinary"), log: { _ in })
        let context = CoreContext(
            store: store, epoch: Revision(rawValue: 7), role: .main,
            acceptMessage: { _ throws(SharedCoreError) in .stored }, reportProblem: { _ in })
        let error = await #expect(throws: SharedCoreError.self) { try await core.start(in: context) }
        #expect(error?.code == .unavailable)
        await core.stop()
        #expect(script.notes().isEmpty, "it is started only under a note of its mark")
    }

    @Test(
        "Processes that a program starts at once are ended, also if its participant was killed before it noted the program"
    )
    func unnumbered() async throws {
        let group = try await open(as: .main, "main")
        let isFirst = Box(true)
        let store = InterposedStore(group) { [script] transaction throws(SharedCoreError) in
            let first = isFirst.update { first in
                defer { first = false }
                return first
            }
            if first { return transaction }
            _ = try? await script.untilPid("daemon", in: "first")
            throw SharedCoreError(.unavailable, "The number cannot be noted.", at: "test")
        }
        let context = { @Sendable (store: any SharedStore, epoch: UInt64) in
            CoreContext(
                store: store, epoch: Revision(rawValue: epoch), role: .main,
                acceptMessage: { _ throws(SharedCoreError) in .stored }, reportProblem: { _ in })
        }
        let former = CommandCore(script.command("fork-at-once", notes: "first"), log: { _ in })
        let error = await #expect(throws: SharedCoreError.self) { try await former.start(in: context(store, 5)) }
        #expect(error?.code == .unavailable)
        let daemon = try await script.untilPid("daemon", in: "first")
        #expect(!isGone(daemon))
        #expect(!script.notes("first").contains { $0.hasPrefix("start") }, "it is told to start only under its number")
        // Nothing stops the former core, as where its process is gone.
        let next = CommandCore(script.command("ordinary"), log: { _ in })
        try await next.start(in: context(group, 6))
        #expect(isGone(daemon))
        await next.stop()
        await former.stop()
        #expect(try await group.list(".sharedcore/exclusive/").entries.isEmpty)
    }

    @Test("Its mark is found in an environment as large as the kernel lets one be")
    func largeEnvironment() async throws {
        let mark = LaunchMark(parent: .current, number: .random(in: 1...UInt64.max))
        let padding = (0..<15).map { "PADDING\($0)=" + String(repeating: "x", count: 100_000) }
        let program = try StartedProgram(
            "/usr/bin/env", ["-i"] + padding + ["\(LaunchMark.Role.core.variable)=\(mark.text)", "sleep", "1000"],
            streams: [])
        defer {
            program.kill()
            _ = try? program.waitForEnd()
        }
        // The kernel shows the name of a program before its environment.
        try await eventually("its mark is found", timeout: TestTimeout.long) {
            OpenFile.text(of: "/proc/\(program.pid)/comm") == "sleep\n"
                && LaunchMark(of: program.pid, as: .core) == mark
        }
    }

    @Test("A process that a note calls a former core is left alone unless it says so, and the next one does not start")
    func unknownLeftover() async throws {
        let group = try await open(as: .main, "main")
        let sleeping = try StartedProgram("/bin/sleep", ["1000"], streams: [])
        defer {
            sleeping.kill()
            _ = try? sleeping.waitForEnd()
        }
        _ = try await FormerCommand.note(
            sleeping.pid, of: Revision(rawValue: 1), LaunchMark(parent: .current, number: 1), in: group, forgetting: [])
        let main = try main(script.command("ordinary"), of: group)
        let error = await #expect(throws: CoordinationError.self) { try await main.start() }
        let text = "its core failed: leftover: the former command (pid \(sleeping.pid)) still runs"
        #expect(error?.message.contains(text) == true, "\(error?.message ?? "")")
        #expect(!isGone(sleeping.pid))
        #expect(script.notes().isEmpty)
        await main.stop()
    }

    private static func beginCall(_ id: String) -> String {
        #"beginCall {"callID":"\#(id)","direction":"incoming","from":"ann","to":"bob"}"#
    }

    @Test(
        "A call is what its program says of it, and the program carries out or refuses commands (C23, C24)",
        arguments: Place.allCases)
    func calls(place: Place) async throws {
        let core = script.command(
            "ask",
            """
            beginCall {"callID":"a","direction":"outgoing","from":"ann","to":"bob","account":"work",\
            "media":["audio","video"],"state":"ringing"}
            """)
        let main = try main(core, of: try await open(place, as: .main, "main"))
        try await main.start()
        _ = try await script.untilNote("asked")
        let calls = Calls(try await open(place, as: .executor, "other"))
        let id = try callID("a")
        let begun = try #require(try await calls.list().first)
        #expect(begun.id == id && begun.direction == .outgoing && begun.state == .ringing)
        #expect(
            begun.from == "ann" && begun.to == "bob" && begun.account == "work"
                && begun.media == [.audio, .video])
        try await calls.send(.answer, to: id, within: TestTimeout.long)
        #expect(try await calls.list().map(\.state) == [.answered])
        for (command, reason) in [(CallCommand.decline, "no line"), (.resume, "unknown")] {
            let error = await #expect(throws: CoordinationError.self) {
                try await calls.send(command, to: id, within: TestTimeout.long)
            }
            #expect(error?.code == .refused)
            #expect(error?.message.contains("refuses: \(reason)") == true, "\(error?.message ?? "")")
        }
        try await calls.send(.hangUp, to: id, within: TestTimeout.long)
        #expect(try await calls.list().map(\.state) == [.ended(.failed("no line"))])
        await main.stop()
        #expect(
            script.notes().filter { $0.hasPrefix("command") } == [
                "command a answer", "command a decline", "command a hangUp",
            ])
        #expect(script.notes().last == "stopped")
    }

    @Test(
        "Calls that are not there, or are over, are refused with a code; one that is begun again goes on"
    )
    func refusedCalls() async throws {
        let many = (1...15).map { Self.beginCall("many-\($0)") }
        let steps =
            [
                #"changeCall {"callID":"a","state":"held"}"#, #"endCall {"callID":"a","reason":"missed"}"#,
                Self.beginCall("a"), Self.beginCall("a"),
                #"beginCall {"callID":"a","direction":"incoming","from":"eve","to":"bob"}"#,
                #"changeCall {"callID":"a","state":"held"}"#, #"endCall {"callID":"a","reason":"missed"}"#,
                #"endCall {"callID":"a","reason":"missed"}"#, Self.beginCall("a"),
            ] + many + [
                Self.beginCall("more"), #"endCall {"callID":"a","reason":"busy"}"#, Self.beginCall("more"),
            ]
        let main = try main(script.command("ask") + steps, of: try await open(as: .main, "main"))
        try await main.start()
        _ = try await script.untilNote("asked")
        await main.stop()
        let answers = script.notes().compactMap {
            $0.hasPrefix("answer") ? $0.split(separator: " ").last : nil
        }
        let beginning: [Substring] = [
            "guardFailed", "guardFailed", "done", "done", "guardFailed", "done", "done", "guardFailed",
            "done",
        ]
        let rest: [Substring] = ["limitExceeded", "done", "done"]
        #expect(answers == beginning + Array(repeating: "done", count: 15) + rest)
    }

    @Test(
        "A command that the program does not answer has an unknown outcome when it ends; beside 32 of them no more are given to it"
    )
    func unansweredCommands() async throws {
        let ids = try ["a", "b", "c"].map(callID)
        let main = try main(
            script.command("ask") + ids.map { Self.beginCall($0.text) },
            of: try await open(as: .main, "main"))
        try await main.start()
        _ = try await script.untilNote("asked")
        let calls = Calls(try await open(as: .executor, "other"))
        let codes = try await withThrowingTaskGroup(of: CoordinationError.Code?.self) { tasks in
            for number in 0..<32 {
                tasks.addTask {
                    await Self.code { () async throws(CoordinationError) in
                        try await calls.send(.hold, to: ids[number / 16], within: TestTimeout.long)
                    }
                }
            }
            try await eventually("all are given to the program", timeout: TestTimeout.long) {
                script.notes().count { $0.hasPrefix("command") } == 32
            }
            let error = await #expect(throws: CoordinationError.self) {
                try await calls.send(.hold, to: ids[2], within: TestTimeout.long)
            }
            #expect(error?.code == .refused)
            #expect(error?.message.contains("32 commands") == true, "\(error?.message ?? "")")
            await main.stop()
            return try await tasks.reduce(into: [CoordinationError.Code?]()) { $0.append($1) }
        }
        #expect(codes == Array(repeating: CoordinationError.Code.outcomeUnknown, count: 32))
        #expect(script.notes().count { $0.hasPrefix("command") } == 32)
        #expect(try await calls.list().map(\.state) == Array(repeating: .ended(.lost), count: 3))
    }

    @Test("The activity of an open call is not ended by its id, and is over when the call is (C17, C23)")
    func activityOfCall() async throws {
        let (begin, end) = (#"beginActivity {"kind":"call","id":"a"}"#, #"endActivity {"kind":"call","id":"a"}"#)
        let endCall = #"endCall {"callID":"a","reason":"missed"}"#
        let core = script.command(
            "ask", begin, Self.beginCall("a"), end, endCall, end, begin, end, Self.beginCall("a"), end, endCall, end)
        let main = try main(core, of: try await open(as: .main, "main"))
        try await main.start()
        _ = try await script.untilNote("asked")
        let answers = script.notes().compactMap {
            $0.hasPrefix("answer") ? $0.split(separator: " ").last : nil
        }
        let ofFirst = ["done", "done", "guardFailed", "done", "done", "done", "done"]
        #expect(answers.map(String.init) == ofFirst + ["done", "guardFailed", "done", "done"])
        await main.stop()
    }

    @Test("The activity of a call has the call's id, as long as that is, and ids are compared byte by byte (C17, C23)")
    func idsOfCalls() async throws {
        let (composed, decomposed, long) = ("\u{e9}", "e\u{301}", String(repeating: "/", count: 512))
        func activity(_ method: String, _ id: String) -> String { #"\#(method) {"kind":"call","id":"\#(id)"}"# }
        let core = script.command(
            "ask", Self.beginCall("x y"), activity("beginActivity", "x%20y"), Self.beginCall(decomposed),
            activity("beginActivity", composed), Self.beginCall(long), activity("endActivity", decomposed),
            activity("endActivity", "%2F"), #"endCall {"callID":"x y","reason":"missed"}"#)
        let main = try main(core, of: try await open(as: .main, "main"))
        try await main.start()
        _ = try await script.untilNote("asked")
        let answers = script.notes().compactMap { $0.hasPrefix("answer") ? $0.split(separator: " ").last : nil }
        #expect(answers == ["done", "done", "done", "done", "done", "guardFailed", "done", "done"])
        let reader = try await open(as: .executor, "reader")
        let ids = try await Activity.current(in: reader).map { Array($0.id.utf8) }
        #expect(ids == ["x%20y", decomposed, composed, long].map { Array($0.utf8) })
        await main.stop()
    }

    /// The code of an error; nil where there is none.
    private static func code(_ body: () async throws(CoordinationError) -> Void) async
        -> CoordinationError.Code?
    {
        do throws(CoordinationError) {
            try await body()
            return nil
        } catch {
            return error.code
        }
    }
}

#if ZMQ
    /// The hub of one test, started when its group is first opened.
    private actor LazyHub {
        private struct Started: Sendable {
            let directory: TemporaryDirectory
            let group: any ConformanceGroup
        }

        private var starting: Task<Started, any Error>?

        func open(as description: SessionDescription) async throws -> any SharedGroup {
            let starting =
                starting
                ?? Task {
                    let directory = try TemporaryDirectory()
                    let harness = ZMQHarness(.memory, over: .ipc, in: directory.path, peer: nil)
                    return Started(directory: directory, group: try await harness.makeGroup(GroupSettings()))
                }
            self.starting = starting
            return try await starting.value.group.open(description, requiring: .none)
        }

        deinit {
            guard let starting else { return }
            Task { try await starting.value.group.remove() }
        }
    }
#endif

extension Transaction.Operation {
    fileprivate func puts(below path: String) -> Bool {
        if case .put(let key, _, _) = self { key.text.hasPrefix(path) } else { false }
    }
}
