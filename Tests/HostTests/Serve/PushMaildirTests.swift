internal import Coordination
internal import CoreAPI
internal import CoreAPITesting
internal import FoundationEssentials
internal import InMemoryBackend
internal import Logging
internal import Mailboxes
internal import Platform
internal import Subprocess
internal import Synchronization
internal import TestSupport
internal import Testing

@testable internal import SharedCoreHost

@Suite("A watched Maildir")
struct PushMaildirTests {
    private let directory: TemporaryDirectory
    private let space = MemorySpace()

    init() throws {
        directory = try TemporaryDirectory()
        for folder in ["new", "cur", "tmp"] {
            try FileManager.default.createDirectory(
                atPath: directory.path(of: "mail/" + folder), withIntermediateDirectories: true)
        }
    }

    private func write(_ name: String, headers: String = "", id: String? = nil) throws {
        let mail = "From: Zoe <zoe@example.org>\r\n\(id.map { "Message-ID: <\($0)>\r\n" } ?? "")\(headers)\r\nHello\r\n"
        try OpenFile(path: directory.path(of: "mail/tmp/x"), .createNew).write(Array(mail.utf8), at: 0)
        try FileManager.default.moveItem(
            atPath: directory.path(of: "mail/tmp/x"), toPath: directory.path(of: "mail/" + name))
    }

    private func watching(
        at name: String = "mail", cores: String = "mail", log: any LogHandler = SwiftLogNoOpLogHandler(),
        reading: (any SharedStore) -> InterposedStore = { InterposedStore($0) }, memory: UInt64? = nil,
        _ body: (PushQueue) async throws -> Void
    ) async throws {
        try await watchingItself(at: name, cores: cores, log: log, reading: reading, memory: memory) { _, queue in
            try await body(queue)
        }
    }

    private func watchingItself(
        at name: String = "mail", cores: String = "mail", log: any LogHandler = SwiftLogNoOpLogHandler(),
        reading: (any SharedStore) -> InterposedStore = { InterposedStore($0) }, memory: UInt64? = nil,
        _ body: (PushMaildir, PushQueue) async throws -> Void
    ) async throws {
        let group = try await space.open("a")
        let queue = try PushQueue(of: group)
        let stopping = StopSignal()
        let maildir = PushMaildir(
            directory.path(of: name), queue, inbox: try Inbox(reading(group)),
            of: directory.path(of: cores), logger: Logger(label: "test") { _ in log }, stopping: stopping,
            memory: { memory })
        let work = Task { await maildir.run() }
        do {
            try await body(maildir, queue)
        } catch {
            stopping.raise()
            throw error
        }
        stopping.raise()
        await work.value
        await group.close()
    }

    private func callID(_ text: String) throws -> CallID { try #require(CallID(text)) }

    private func ids(_ queue: PushQueue) async throws -> [String] {
        try await queue.pending.contents().inOrder.compactMap { PushRecord($0.value)?.callID }
    }

    private func until(_ expected: [String], in queue: PushQueue) async throws {
        try await eventually("the pushes \(expected)", timeout: TestTimeout.long) {
            try await ids(queue).sorted() == expected.sorted()
        }
    }

    @Test("Each file that is there or arrives becomes a push, named as the core names its messages, and stays in place")
    func arrivals() async throws {
        try write("new/1", id: "1@x")
        try write("new/2", headers: "Call-ID: two\r\n", id: "2@x")
        try await watching { queue in
            try await until(["1@x", "two"], in: queue)
            try write(
                "new/3", headers: "X-SharedCore-Kind: invitation\r\nX-SharedCore-Conference: sip:c@x\r\n", id: "3@x")
            try await until(["1@x", "two", "sip:c@x"], in: queue)
        }
        #expect(TemporaryDirectory.names(in: directory.path(of: "mail/new")).count == 3)
    }

    @Test("A file is a push once, also after a restart; a name that comes again after its file has gone is another one")
    func once() async throws {
        let keeper = try await space.open("a")
        try write("new/1", id: "1@x")
        try await watching { try await until(["1@x"], in: $0) }
        try await watching { queue in
            try write("new/2", id: "2@x")
            try await until(["1@x", "2@x"], in: queue)
            try FileManager.default.removeItem(atPath: directory.path(of: "mail/new/1"))
            try write("new/3", id: "3@x")
            try await until(["1@x", "2@x", "3@x"], in: queue)
            try await eventually("the file is forgotten", timeout: TestTimeout.long) {
                try await queue.knownArrivals().keys.sorted() == ["2", "3"]
            }
            try write("new/1", id: "1@x")
            try await until(["1@x", "1@x", "2@x", "3@x"], in: queue)
        }
        await keeper.close()
    }

    @Test("P11: so many are announced at a time as fit into executor.memory, the first by their names, then the next")
    func room() async throws {
        for number in 1...9 { try write("new/\(number)", id: "\(number)@x") }
        for number in 0..<1_200 { try write("new/0-\(number)") }
        let log = HeardLog()
        try await watching(log: log, memory: 5 * 24 << 10) { queue in
            try await until((1...5).map { "\($0)@x" }, in: queue)
            try FileManager.default.removeItem(atPath: directory.path(of: "mail/new/1"))
            try FileManager.default.removeItem(atPath: directory.path(of: "mail/new/4"))
            try await until((1...7).map { "\($0)@x" }, in: queue)
            #expect(try await queue.knownArrivals().keys.sorted() == ["2", "3", "5", "6", "7"])
        }
        let named = log.lines.filter { !$0.contains("more are when") }
        // Ten of each thousand are named.
        #expect((11...22).contains(named.count) && log.lines.count <= named.count + 1, "\(log.lines)")
    }

    @Test("P11: while the group has much content one is announced each second")
    func muchContent() async throws {
        let group = try await space.open("a")
        var content = Transaction()
        for number in 0..<4_000 { content.put(try Key("content/\(number)"), [1]) }
        _ = try await group.commit(content)
        for number in 1...3 { try write("new/\(number)", id: "\(number)@x") }
        try await watching(memory: 8 << 20) { queue in
            try await until(["1@x", "2@x", "3@x"], in: queue)
            let times = try await queue.pending.contents().inOrder.compactMap { PushRecord($0.value)?.receivedAt }
                .sorted()
            #expect(times.count == 3 && zip(times, times.dropFirst()).allSatisfy { $1 - $0 >= 1_000_000_000 })
        }
        await group.close()
    }

    @Test(
        "P11: where acknowledged call-ids fill a quarter of executor.memory the oldest are forgotten, but none of a file"
    )
    func forgottenCallIDs() async throws {
        let group = try await space.open("a")
        let (inbox, queue) = (try Inbox(group), try PushQueue(of: group))
        for number in 0..<3_400 {
            try await inbox.store(InboxMessage(callID: callID("\(number)@old"), content: .nothingToShow))
        }
        // The message was announced before. A core was killed after it had stored the message and before it moved the
        // file.
        try write("new/0", id: "0@old")
        _ = try await queue.announce(
            callID("0@old"), as: PushQueue.part(for: "0"), noting: PushQueue.part(for: callID("0@old")))
        for number in 1...3 { try write("new/\(number)", id: "\(number)@x") }
        try await watching(memory: 8 << 20) { queue in
            try await until(["0@old", "1@x", "2@x", "3@x"], in: queue)
            for (number, state) in [(0, .nothingToShow), (1, .absent), (3_399, .nothingToShow)] as [(Int, InboxState)] {
                #expect(try await inbox.state(of: callID("\(number)@old")) == state, "\(number)")
            }
        }
        await group.close()
    }

    @Test("A message that a core takes before the host has read the folder is a push as well")
    func takenAtOnce() async throws {
        try write("cur/0:2,S", id: "old@x")
        try write("new/1", id: "1@x")
        try await watching { queue in
            try await until(["1@x"], in: queue)
            try FileManager.default.moveItem(
                atPath: directory.path(of: "mail/new/1"), toPath: directory.path(of: "mail/cur/1:2,S"))
            // As if a core had moved the file at once: it is never in `new`, the folder with events.
            try write("cur/2:2,S", id: "2@x")
            try write("new/3", id: "3@x")
            try await until(["1@x", "2@x", "3@x"], in: queue)
        }
    }

    @Test("A message that a core takes while pushes cannot be stored is a push as soon as they can")
    func storeRefuses() async throws {
        let group = try await space.open("a")
        let isFull = Mutex(false)
        let refusals = Mutex(0)
        let store = InterposedStore(group) { transaction throws(SharedCoreError) in
            guard isFull.withLock({ $0 }) else { return transaction }
            refusals.withLock { $0 += 1 }
            throw SharedCoreError(.storageFull, "It is full.", at: "test")
        }
        let queue = try PushQueue(of: store)
        let stopping = StopSignal()
        let maildir = PushMaildir(
            directory.path(of: "mail"), queue, inbox: try Inbox(group), of: directory.path(of: "mail"),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, stopping: stopping)
        try write("new/1", id: "1@x")
        let work = Task { await maildir.run() }
        try await until(["1@x"], in: queue)
        isFull.withLock { $0 = true }
        try write("cur/2:2,S", id: "2@x")
        try write("new/3", id: "3@x")
        try await eventually("it was refused", timeout: TestTimeout.long) { refusals.withLock { $0 } > 0 }
        isFull.withLock { $0 = false }
        try await until(["1@x", "2@x", "3@x"], in: queue)
        stopping.raise()
        await work.value
        await group.close()
    }

    @Test("A full queue is told once and holds up nothing else: what has gone is forgotten, nothing comes twice")
    func fullQueue() async throws {
        let group = try await space.open("a")
        let queue = try PushQueue(of: group, capacity: .init(count: 2))
        let stopping = StopSignal()
        let log = HeardLog()
        let maildir = PushMaildir(
            directory.path(of: "mail"), queue, inbox: try Inbox(group), of: directory.path(of: "mail"),
            logger: Logger(label: "test") { _ in log }, stopping: stopping)
        try write("new/1", id: "1@x")
        let work = Task { await maildir.run() }
        try await until(["1@x"], in: queue)
        // A core keeps files that it has taken like this. It is not determined which one is pushed and which waits.
        for number in 2...3 { try write("cur/\(number):2,S", id: "\(number)@x") }
        try FileManager.default.removeItem(atPath: directory.path(of: "mail/new/1"))
        try write("new/4", id: "4@x")
        try await eventually("the queue is full, and the file that has gone is forgotten", timeout: TestTimeout.long) {
            let files = try await queue.knownArrivals()
            return try await ids(queue).count == 2 && !log.lines.isEmpty && files["1"] == nil
        }
        var served: [String] = []
        try await eventually("all are served", timeout: TestTimeout.long) {
            while let delivery = try await queue.pending.take() {
                let push = PushRecord(delivery.bytes)
                served.append(push?.callID ?? "")
                try await queue.acknowledge(PushQueue.Taken(delivery: delivery, record: push))
            }
            return Set(served) == ["1@x", "2@x", "3@x", "4@x"]
        }
        stopping.raise()
        await work.value
        #expect(try await queue.count() == PushQueue.Count())
        #expect(served.count == 4)
        #expect(log.lines.count == 1 && log.lines[0].contains("push.capacity is 2"), "\(log.lines)")
        await group.close()
    }

    @Test("A file without an identifier is no push, holds up no other, and is named in the log")
    func withoutIdentifier() async throws {
        try write("new/1")
        try write("new/2", id: "2@x")
        let log = HeardLog()
        try await watching(log: log) { queue in
            try await until(["2@x"], in: queue)
            try await eventually("it is named", timeout: TestTimeout.long) { !log.lines.isEmpty }
            try write("new/3", id: "3@x")
            try await until(["2@x", "3@x"], in: queue)
            #expect(try await queue.knownArrivals().keys.sorted() == ["2", "3"], "nothing is noted of it")
        }
        #expect(
            log.lines.count == 1 && log.lines[0].contains("“1”") && log.lines[0].contains("Call-ID"), "\(log.lines)")
    }

    @Test("A Maildir that can be used only later is watched from then on")
    func later() async throws {
        try FileManager.default.removeItem(atPath: directory.path(of: "mail"))
        try Data().write(to: URL(filePath: directory.path(of: "mail")))
        try await watching { queue in
            try FileManager.default.removeItem(atPath: directory.path(of: "mail"))
            try FileManager.default.createDirectory(
                atPath: directory.path(of: "mail/tmp"), withIntermediateDirectories: true)
            try FileManager.default.createDirectory(
                atPath: directory.path(of: "mail/new"), withIntermediateDirectories: true)
            try write("new/1", id: "1@x")
            try await until(["1@x"], in: queue)
        }
    }

    @Test("The host watches the Maildir that is configured")
    func host() async throws {
        var program = try HostProgram()
        program.environment["SHAREDCORE_PUSH_MAILDIR"] = program.directory.path(of: "state/sharedcore/default/Maildir")
        try program.deliver("1@x")
        try await ServingHost.serve(program) { host in
            try await host.until("served", of: "1@x")
            for number in 2...5 { try host.program.deliver("\(number)@x") }
            try await host.untilServed(5)
            for number in 2...5 { try await host.until("served", of: "\(number)@x") }
            #expect(!host.running.errors.lines.contains { $0.contains("core.maildir is not set") })
        }
    }

    @Test("A Maildir that is watched and that no Executor's core reads is named in the log")
    func unreadMaildir() async throws {
        var program = try HostProgram()
        program.environment["SHAREDCORE_PUSH_MAILDIR"] = program.directory.path(of: "mail")
        try await ServingHost.serve(program) { host in
            try await host.running.untilErrors(contain: "core.maildir is not set")
        }
    }

    @Test("P10: a message that a core stored while no host ran becomes one push, until it is acknowledged")
    func takenWithoutHost() async throws {
        let core = try await space.open("a")
        let inbox = try Inbox(core)
        try write("cur/1:2,S", id: "1@x")
        for id in ["1@x", "large@x"] {
            try await inbox.store(
                InboxMessage(callID: callID(id), content: .text(from: "zoe", to: "me", text: "Hello")))
        }
        // A message that no process has to show, and one that a process is showing.
        try await inbox.store(InboxMessage(callID: callID("nothing@x"), content: .nothingToShow))
        try await inbox.store(InboxMessage(callID: callID("shown@x"), content: .tooLarge(from: "zoe", to: "me")))
        guard case .taken(let shown) = try await inbox.take(callID("shown@x")) else {
            Issue.record("It is not there.")
            return
        }
        try await watching { try await until(["1@x", "large@x"], in: $0) }
        // Another host. One more message shows when it has read the folders.
        try write("new/2", id: "2@x")
        try await watching { queue in
            try await until(["1@x", "2@x", "large@x"], in: queue)
            #expect(try await queue.knownArrivals().count == 3)
            try await inbox.acknowledge(shown)
            guard case .taken(let first) = try await inbox.take(callID("1@x")) else {
                Issue.record("It is not there.")
                return
            }
            try await inbox.acknowledge(first)
            try write("new/3", id: "3@x")
            try await eventually("what was acknowledged is forgotten", timeout: TestTimeout.long) {
                try await queue.knownArrivals().keys.sorted() == ["2", "3", PushQueue.part(for: callID("large@x"))]
            }
            try await until(["1@x", "2@x", "3@x", "large@x"], in: queue)
        }
        await core.close()
    }

    @Test("P10: a file that is given back after it was set aside is a push again")
    func givenBack() async throws {
        let core = try await space.open("a")
        let inbox = try Inbox(core)
        let notice = InboxMessage(callID: try callID("1@x"), content: .tooLarge(from: "zoe", to: "me"))
        try write("new/1", id: "1@x")
        try await watching { queue in
            try await until(["1@x"], in: queue)
            try await inbox.store(notice)
            try FileManager.default.moveItem(
                atPath: directory.path(of: "mail/new/1"), toPath: directory.path(of: "mail/aside"))
            try write("new/2", id: "2@x")
            try await eventually("its file is forgotten", timeout: TestTimeout.long) {
                try await queue.knownArrivals()["1"] == nil
            }
            try await until(["1@x", "2@x"], in: queue)
            #expect(try await inbox.forgetNotice(of: notice.callID) == .gone)
            try FileManager.default.moveItem(
                atPath: directory.path(of: "mail/aside"), toPath: directory.path(of: "mail/new/1"))
            try await until(["1@x", "1@x", "2@x"], in: queue)
        }
        await core.close()
    }

    @Test(
        "P10: the Maildir of the cores is known by what it is, also through a link; another one tells nothing of the inbox"
    )
    func otherSpelling() async throws {
        let core = try await space.open("a")
        try FileManager.default.createSymbolicLink(
            atPath: directory.path(of: "link"), withDestinationPath: directory.path(of: "mail"))
        for folder in ["new", "cur", "tmp"] {
            try FileManager.default.createDirectory(
                atPath: directory.path(of: "other/" + folder), withIntermediateDirectories: true)
        }
        try await Inbox(core).store(
            InboxMessage(callID: callID("1@x"), content: .text(from: "zoe", to: "me", text: "Hello")))
        try await watching(at: "other") { queue in
            try write("new/2", id: "2@x")
            try FileManager.default.moveItem(
                atPath: directory.path(of: "mail/new/2"), toPath: directory.path(of: "other/new/2"))
            try await until(["2@x"], in: queue)
        }
        try await watching(at: "link") { try await until(["1@x", "2@x"], in: $0) }
        await core.close()
    }

    @Test(
        "P10: what a core has taken is no push again because the path to its Maildir could not be followed for a while")
    func brokenPath() async throws {
        let core = try await space.open("a")
        let link = directory.path(of: "link")
        func point(to target: String) throws {
            try? FileManager.default.removeItem(atPath: link)
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: target)
        }
        try await Inbox(core).store(
            InboxMessage(callID: callID("1@x"), content: .text(from: "zoe", to: "me", text: "Hello")))
        try point(to: directory.path(of: "mail"))
        try await watching(cores: "link") { try await until(["1@x"], in: $0) }
        try point(to: link)
        let log = HeardLog()
        try await watching(cores: "link", log: log) { _ in
            try await eventually("the trouble is told", timeout: TestTimeout.long) {
                log.lines.contains { $0.contains("cannot be watched") }
            }
        }
        try point(to: directory.path(of: "mail"))
        try await watching(cores: "link") { queue in
            try write("new/2", id: "2@x")
            try await until(["1@x", "2@x"], in: queue)
        }
        await core.close()
    }

    @Test("P10: a message waits while its file stands in new or the inbox has it, until it is acknowledged")
    func waiting() async throws {
        let core = try await space.open("a")
        let inbox = try Inbox(core)
        for folder in ["new", "cur", "tmp"] {
            try FileManager.default.createDirectory(
                atPath: directory.path(of: "other/" + folder), withIntermediateDirectories: true)
        }
        for number in 1...2 { try write("new/\(number)", id: "\(number)@x") }
        try await watchingItself(cores: "other") { maildir, queue in
            try await until(["1@x", "2@x"], in: queue)
            #expect(try await !maildir.isWaiting(callID("1@x")), "the cores take from another Maildir")
        }
        try await watchingItself { maildir, queue in
            #expect(try await maildir.isWaiting(callID("1@x")), "also where an earlier host has announced it")
            #expect(try await !maildir.isWaiting(callID("3@x")))
            try await inbox.store(
                InboxMessage(callID: callID("1@x"), content: .text(from: "zoe", to: "me", text: "Hello")))
            try FileManager.default.moveItem(
                atPath: directory.path(of: "mail/new/1"), toPath: directory.path(of: "mail/cur/1:2,S"))
            #expect(try await maildir.isWaiting(callID("1@x")))
            guard case .taken(let taken) = try await inbox.take(callID("1@x")) else {
                Issue.record("It is not there.")
                return
            }
            #expect(try await maildir.isWaiting(callID("1@x")), "it may be given back")
            try await inbox.acknowledge(taken)
            #expect(try await !maildir.isWaiting(callID("1@x")))
            try FileManager.default.removeItem(atPath: directory.path(of: "mail/new/2"))
            try await eventually("what is gone does not wait", timeout: TestTimeout.long) {
                try await !maildir.isWaiting(callID("2@x"))
            }
        }
        await core.close()
    }

    @Test("P10: mail that comes while a Main without its core owns is shown when that has ended, also by another host")
    func otherOwner() async throws {
        var program = try HostProgram()
        program.environment["SHAREDCORE_PUSH_MAILDIR"] = program.directory.path(of: "state/sharedcore/default/Maildir")
        program.environment["SHAREDCORE_EXECUTOR_BUDGET"] = "4s"
        program.environment["SHAREDCORE_EXECUTOR_RETRY_DELAY"] = "50ms"
        // Time is short, and later attempts may fail on a busy machine.
        program.environment["SHAREDCORE_EXECUTOR_ATTEMPTS"] = "1000"
        let patient = program
        try await patient.running("exclusive", "--role", "main", "--", "sleep", "3600") { owner in
            try await eventually("it owns", timeout: TestTimeout.long) {
                guard case .object = try await patient.run("status", "--json").objects().first?["owner"] else {
                    return false
                }
                return true
            }
            try await ServingHost.serve(patient) { host in
                try patient.deliver("1@x")
                // An attempt fails where this machine is too busy for the budget.
                try await eventually("an attempt that is postponed is no failure", timeout: TestTimeout.long) {
                    let failures = try host.events("postponed").map { $0["failures"] }
                    return zip([.number(0)] + failures, failures).contains { $0 == $1 }
                }
                #expect(try host.events("served").isEmpty)
            }
            try owner.send(.terminate)
        }
        try await ServingHost.serve(patient) { host in
            try await host.until("it is shown") { end in
                guard end["event"] == .text("ended"), case .text(let line) = end["printed"] else { return false }
                return line.contains("Hello")
            }
            try await host.until("served", of: "1@x")
        }
    }

    @Test("P10: a message that was given back and stored anew while no host looked is another push")
    func storedAnew() async throws {
        let core = try await space.open("a")
        let inbox = try Inbox(core)
        let notice = InboxMessage(callID: try callID("1@x"), content: .tooLarge(from: "zoe", to: "me"))
        try await inbox.store(notice)
        try await watching { try await until(["1@x"], in: $0) }
        #expect(try await inbox.forgetNotice(of: notice.callID) == .gone)
        try await inbox.store(notice)
        try await watching { try await until(["1@x", "1@x"], in: $0) }
        await core.close()
    }

    /// The time at which a core takes a message, beside a host that reads the folders for the first time.
    enum Taking: CaseIterable {
        /// Before the host reads the inbox, and after it has begun to read the folders.
        case beforeInbox
        /// After the host has read the inbox, and before it reads the folders.
        case behindInbox
        /// The same, and an earlier host has announced its file.
        case behindInboxAnnounced
    }

    @Test(
        "P10: a message that a core takes between two readings of the host is a push once", arguments: Taking.allCases)
    func takenBetween(_ taking: Taking) async throws {
        let core = try await space.open("a")
        let inbox = try Inbox(core)
        let message = InboxMessage(callID: try callID("1@x"), content: .text(from: "zoe", to: "me", text: "Hello"))
        if taking == .behindInboxAnnounced {
            try write("new/1", id: "1@x")
            try await watching { try await until(["1@x"], in: $0) }
        }
        let isTaken = Mutex(false)
        let take: @Sendable () async -> Void = {
            let isFirst = isTaken.withLock { isTaken in
                defer { isTaken = true }
                return !isTaken
            }
            guard isFirst else { return }
            do {
                if taking == .behindInboxAnnounced {
                    try FileManager.default.moveItem(
                        atPath: directory.path(of: "mail/new/1"), toPath: directory.path(of: "mail/cur/1:2,S"))
                } else {
                    try write("cur/1:2,S", id: "1@x")
                }
                try await inbox.store(message)
            } catch {
                Issue.record(error)
            }
        }
        let reading: @Sendable (any SharedStore) -> InterposedStore = { store in
            taking == .beforeInbox
                ? InterposedStore(store, beforeList: { _ in await take() })
                : InterposedStore(store, afterList: { _, _ in await take() })
        }
        try await watching(reading: reading) { queue in
            try await until(["1@x"], in: queue)
            // The same host reads the folders again.
            try write("new/2", id: "2@x")
            try await until(["1@x", "2@x"], in: queue)
        }
        // Another host reads the inbox at its start.
        try write("new/3", id: "3@x")
        try await watching { try await until(["1@x", "2@x", "3@x"], in: $0) }
        await core.close()
    }

    @Test(
        "P10: a message that a core takes while its host is stopped, and then killed, is a push of the next host, once")
    func takenFromStoppedHost() async throws {
        var program = try HostProgram()
        program.environment["SHAREDCORE_PUSH_MAILDIR"] = program.directory.path(of: "state/sharedcore/default/Maildir")
        program.environment["SHAREDCORE_INBOX_LIFETIME"] = "1h"
        let cur = program.directory.path(of: "state/sharedcore/default/Maildir/cur")
        let patient = program
        try await patient.running("main", "--json") { main in
            try await main.untilOutput(has: 1)
            try await patient.running("serve", "--json") { host in
                try await eventually("it serves", timeout: TestTimeout.long) {
                    try host.objects().contains { $0["event"] == .text("serving") }
                }
                try host.send(.suspend)
                try patient.deliver("1@x")
                try await eventually("the core has taken it; \(main.errors.lines)", timeout: TestTimeout.long) {
                    !TemporaryDirectory.names(in: cur).isEmpty
                }
                try host.send(.kill)
            }
            for number in 2...3 {
                try await ServingHost.serve(patient) { host in
                    // The second host finds nothing else to do.
                    if number == 3 { try patient.deliver("3@x") }
                    let id = number == 3 ? "3@x" : "1@x"
                    let end = try await host.until("ended", of: id)
                    #expect(try host.printed(end).contains("Hello"))
                    try await host.until("served", of: id)
                    #expect(try host.events("taken").count == 1)
                }
            }
            try main.send(.terminate)
        }
    }
}
