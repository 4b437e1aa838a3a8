internal import Coordination
internal import CoreAPI
internal import CoreAPITesting
internal import Glibc
internal import Mailboxes
internal import Platform
internal import TestSupport
internal import Testing

@testable internal import MaildirCore

@Suite("A core starts, works and stops as it is told")
struct LifeTests {
    @Test("Starting takes the configured time, and makes the missing folders for their user alone")
    func startTakesItsTime() async throws {
        let maildir = try TestMaildir()
        let inbox = try await TestInbox()
        let clock = ManualClock()
        let core = MaildirCore(directory: maildir.path, startDelay: .seconds(2), clock: clock)
        let isStarted = Box(false)
        let start = Task {
            try await core.start(in: inbox.context)
            isStarted.update { $0 = true }
        }
        try await eventually("the core connects") { clock.sleeperCount == 1 }
        #expect(maildir.names("") == ["cur", "new", "tmp"])
        for folder in ["", "cur", "new", "tmp"] {
            #expect(try Directory(path: maildir.path + "/" + folder).status().permissions == 0o700)
        }
        clock.advance(by: .milliseconds(1999))
        #expect(clock.sleeperCount == 1)
        #expect(!isStarted.value)
        clock.advance(by: .milliseconds(1))
        try await withTimeout(TestTimeout.usual, "the core is started") { try await start.value }
        await core.stop()
    }

    @Test("A start that is cancelled ends at once")
    func startIsCancelled() async throws {
        let maildir = try TestMaildir()
        let inbox = try await TestInbox()
        let clock = ManualClock()
        let core = MaildirCore(directory: maildir.path, startDelay: .seconds(3600), clock: clock)
        let start = Task { try await core.start(in: inbox.context) }
        try await eventually("the core connects") { clock.sleeperCount == 1 }
        start.cancel()
        await #expect(throws: CancellationError.self) {
            try await withTimeout(TestTimeout.usual, "the start ends") { try await start.value }
        }
        await core.stop()
    }

    @Test("S13: cancelled while it waits for messages, iterate returns", arguments: [SessionRole.main, .executor])
    func iterateIsCancelled(_ role: SessionRole) async throws {
        let maildir = try TestMaildir()
        let inbox = try await TestInbox(role: role)
        for _ in 0..<20 { try await withCore(on: maildir, inbox: inbox) {} }
        _ = try await inbox.store.put(Expectation.key(of: ItemName("one"), for: inbox.store.session.id), [1])
        try maildir.deliver(id: "one")
        try await withCore(on: maildir, inbox: inbox) {
            try await eventually("the message is taken") { inbox.callIDs == ["one"] }
        }
    }

    @Test("S13: cancelled while a message is being stored, iterate moves what was stored and returns")
    func iterateIsCancelledInDelivery() async throws {
        let maildir = try TestMaildir()
        try maildir.deliver(id: "one", as: "1")
        try maildir.deliver(id: "two", as: "2")
        let reached = Promise<Void>()
        let proceed = Promise<Void>()
        let inbox = try await TestInbox(beforeReturning: { _ in
            reached.open()
            await proceed.pass()
        })
        let core = MaildirCore(directory: maildir.path)
        try await core.start(in: inbox.context)
        let work = Task { try await core.iterate(in: inbox.context) }
        await reached.pass()
        work.cancel()
        proceed.open()
        try await withTimeout(TestTimeout.usual, "iterate ends") { try await work.value }
        await core.stop()
        #expect(maildir.names("cur") == ["1:2,S"])
        #expect(maildir.names("new") == ["2"])
    }

    @Test("Cancelled while a full store is waited for, iterate returns")
    func iterateIsCancelledInTrouble() async throws {
        let maildir = try TestMaildir()
        try maildir.deliver(id: "one", as: "1")
        let clock = ManualClock()
        let inbox = try await TestInbox { _ in SharedCoreError(.storageFull, "Full.", at: "test") }
        try await withCore(on: maildir, inbox: inbox, clock: clock) {
            try await eventually("the core waits before it tries again") { clock.sleeperCount == 1 }
        }
        #expect(inbox.attempts == 1)
    }

    @Test("The waits after failures grow to 5 s and begin anew when something went well")
    func waitsGrow() async throws {
        let maildir = try TestMaildir()
        try maildir.deliver(id: "one", as: "1")
        let clock = ManualClock()
        let inbox = try await TestInbox { _ in SharedCoreError(.storageFull, "Full.", at: "test") }
        try await withCore(on: maildir, inbox: inbox, clock: clock) {
            var waits: [Duration] = []
            for _ in 0..<10 {
                try await eventually("the core waits before it tries again") { clock.sleeperCount == 1 }
                let wait = clock.now().duration(to: try #require(clock.nextWake))
                waits.append(wait)
                clock.advance(by: wait)
            }
            #expect(waits.first == .milliseconds(100))
            #expect(waits == waits.sorted())
            #expect(waits.last == .seconds(5))
        }
    }

    @Test(
        "A core that is started and stopped 300 times gives back its descriptors and threads", .timeLimit(.minutes(10)))
    func givesBackWhatItHolds() async throws {
        let maildir = try TestMaildir()
        let inbox = try await TestInbox()
        let core = MaildirCore(directory: maildir.path)
        let descriptors = OwnResources.descriptorCount
        let threads = OwnResources.threadCount
        for _ in 0..<300 {
            try await core.start(in: inbox.context)
            let work = Task { try await core.iterate(in: inbox.context) }
            work.cancel()
            try await withTimeout(TestTimeout.usual, "iterate ends") { try await work.value }
            await core.stop()
        }
        // Other tests of this process open and close descriptors meanwhile: a leak of one for each cycle would be much
        // larger.
        try await eventually("the descriptors and threads are given back") {
            OwnResources.descriptorCount < descriptors + 150 && OwnResources.threadCount < threads + 150
        }
    }

    @Test("Iterating without a start is a typed error")
    func iterateNeedsAStart() async throws {
        let maildir = try TestMaildir()
        let inbox = try await TestInbox()
        let core = MaildirCore(directory: maildir.path)
        let error = await #expect(throws: SharedCoreError.self) { try await core.iterate(in: inbox.context) }
        #expect(error?.code == .closed)
    }

    @Test("E2: a path that is none is refused")
    func refusesPaths() async throws {
        let inbox = try await TestInbox()
        for path in ["", "a\0b"] {
            let error = await #expect(throws: SharedCoreError.self) {
                try await MaildirCore(directory: path).start(in: inbox.context)
            }
            #expect(error?.code == .invalidArgument)
        }
    }

    @Test(
        "E2: a file in the place of the Maildir, or of one of its folders, is refused and left alone",
        arguments: ["", "new"])
    func refusesFiles(_ folder: String) async throws {
        let directory = try TemporaryDirectory()
        let inbox = try await TestInbox()
        let path = folder.isEmpty ? directory.path(of: "file") : directory.path
        let file = folder.isEmpty ? path : path + "/" + folder
        try OpenFile(path: file, .createNew).write([1, 2, 3], at: 0)
        let error = await #expect(throws: SharedCoreError.self) {
            try await MaildirCore(directory: path).start(in: inbox.context)
        }
        #expect(error?.code == .invalidArgument)
        #expect(error?.location.hasPrefix(path) == true)
        #expect(try OpenFile(path: file, .read).read(count: 9, at: 0) == [1, 2, 3])
    }

    @Test("E1: without GMime, the error names the package that has it, and nothing is kept of the failure")
    func missingLibrary() throws {
        let error = #expect(throws: SharedCoreError.self) { try MimeLibrary(named: "libgmime-that-is-not-there.so.0") }
        #expect(error?.code == .unavailable)
        #expect(error?.message.contains("libgmime-3.0-0") == true)
        #expect(error?.cause?.contains("libgmime-that-is-not-there") == true)
        _ = try MimeLibrary.shared()
    }

    @Test("E1: another library under that name is an error that says what it lacks")
    func wrongLibrary() throws {
        let error = #expect(throws: SharedCoreError.self) { try MimeLibrary(named: "libc.so.6") }
        #expect(error?.code == .unavailable)
        #expect(error?.message.contains("g_object_unref") == true)
    }
}
