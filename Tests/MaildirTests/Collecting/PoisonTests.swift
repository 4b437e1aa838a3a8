internal import Coordination
internal import CoreAPI
internal import CoreAPITesting
internal import Glibc
internal import Platform
internal import TestSupport
internal import Testing

@testable internal import MaildirCore

@Suite("P11: a message that has ended processes is set aside")
struct PoisonTests {
    private static let path = ".sharedcore/mail-reading/"

    private func counts(in inbox: TestInbox) async throws -> [String: String] {
        let entries = try await inbox.store.list(KeyPrefix(Self.path)).entries
        return Dictionary(
            uniqueKeysWithValues: entries.map {
                (String($0.key.text.dropFirst(Self.path.count)), String(decoding: $0.value, as: UTF8.self))
            })
    }

    /// Leaves the mark of a process that has ended while it read a message.
    private func leaveMark(of name: FileName, in maildir: TestMaildir) async throws {
        let reader = try ChildProcess("/bin/sleep", ["1000"])
        try setMark(of: name, readBy: try #require(ProcessIdentity(of: reader.pid)), in: maildir)
        reader.signal(.kill)
        _ = await reader.end()
    }

    private func setMark(of name: FileName, readBy process: ProcessIdentity, in maildir: TestMaildir) throws {
        let folder = try Maildir(path: maildir.path)
        let mark = Maildir.mark(of: process, in: ProcessIdentity.currentNamespace)
        let result = name.withCString { target in mark.withCString { symlinkat(target, folder.tmp.descriptor, $0) } }
        #expect(result == 0)
    }

    @Test("A message is marked while it is read, and not longer")
    func marked() async throws {
        let maildir = try TestMaildir()
        let folder = try Maildir(path: maildir.path)
        for bytes in [Array("plain".utf8), [0xFF, 0x0A, 0x20], [UInt8](repeating: 0x61, count: 255)] {
            let name = FileName(bytes)
            folder.marking(name) { #expect(maildir.names("tmp").count == 1) }
            #expect(maildir.names("tmp").isEmpty)
            try await leaveMark(of: name, in: maildir)
            let marks = try folder.leftMarks()
            #expect(marks.map(\.message) == [name])
            for mark in marks { folder.unmark(mark.name) }
        }
        for name in ["1", "2"] { try maildir.deliver(id: name, as: name) }
        let inbox = try await TestInbox()
        try await withCore(on: maildir, inbox: inbox) {
            try await eventually("both are taken") { maildir.names("cur").count == 2 }
        }
        #expect(try await counts(in: inbox).isEmpty)
        #expect(maildir.names("tmp").isEmpty)
    }

    @Test("The mark of a core that still reads is left to it, and its message is blamed for nothing")
    func otherCore() async throws {
        let maildir = try TestMaildir()
        let folder = try Maildir(path: maildir.path)
        let name = FileName(Array("1".utf8))
        try setMark(of: name, readBy: .current, in: maildir)
        let marked = maildir.names("tmp")
        #expect(try marked.count == 1 && folder.leftMarks().isEmpty)
        folder.marking(FileName(Array("2".utf8))) {}
        #expect(maildir.names("tmp") == marked, "another core's mark stays")
    }

    @Test("A message is marked also while another process reads, and each that has ended is counted")
    func otherProcess() async throws {
        let maildir = try TestMaildir()
        let folder = try Maildir(path: maildir.path)
        let name = FileName(Array("1".utf8))
        let other = try ChildProcess("/bin/sleep", ["1000"])
        try setMark(of: name, readBy: try #require(ProcessIdentity(of: other.pid)), in: maildir)
        folder.marking(FileName(Array("2".utf8))) { #expect(maildir.names("tmp").count == 2) }
        #expect(try maildir.names("tmp").count == 1 && folder.leftMarks().isEmpty)
        try await leaveMark(of: name, in: maildir)
        other.signal(.kill)
        _ = await other.end()
        let marks = try folder.leftMarks()
        #expect(marks.map(\.message) == [name, name])
        var attempts = MailAttempts(in: try await TestInbox().store)
        try await attempts.load(standing: Maildir.Arrivals(messages: [name]), marks: marks)
        #expect(attempts.count(of: name) == 2)
    }

    @Test(
        "A count that any participant can have written is no number that traps",
        arguments: ["\(Int.max)", "\(Int.min)", "\(UInt64.max)", "-1", "", "3"])
    func foreignCount(_ text: String) async throws {
        let name = FileName(Array("1".utf8))
        let mark = Maildir.LeftMark(name: FileName(Array("mark".utf8)), message: name)
        let inbox = try await TestInbox()
        _ = try await inbox.store.put(".sharedcore/mail-reading/1", Array(text.utf8))
        var attempts = MailAttempts(in: inbox.store)
        try await attempts.load(standing: Maildir.Arrivals(messages: [name]), marks: [mark])
        #expect((1...MailAttempts.limit + 1).contains(attempts.count(of: name)))
    }

    @Test("A mark that says nothing is removed by the next core")
    func unreadableMark() async throws {
        let maildir = try TestMaildir()
        try maildir.makeFolders()
        for name in ["sharedcore-reading", "other"] {
            #expect(symlink("nothing", maildir.path + "/tmp/" + name) == 0)
        }
        try maildir.deliver(id: "1", as: "1")
        let inbox = try await TestInbox()
        try await withCore(on: maildir, inbox: inbox) {
            try await eventually("it is taken") { maildir.names("cur").count == 1 }
        }
        #expect(maildir.names("tmp") == ["other"])
        #expect(try await counts(in: inbox).isEmpty)
    }

    @Test("The end that a mark reports is counted once, by the next core, until the message is read")
    func counted() async throws {
        let maildir = try TestMaildir()
        let folder = try Maildir(path: maildir.path)
        let inbox = try await TestInbox()
        for name in ["read", "gone"] {
            try await leaveMark(of: FileName(Array(name.utf8)), in: maildir)
            let look = try MailSource(path: maildir.path, limits: MailLimits()).look(takingMarks: true)
            #expect(look.marks.map(\.message) == [FileName(Array(name.utf8))])
            #expect(try folder.leftMarks().count == 1, "until it is counted")
            var attempts = MailAttempts(in: inbox.store)
            let arrivals = Maildir.Arrivals(messages: [FileName(Array("read".utf8))])
            try await attempts.load(standing: arrivals, marks: look.marks)
            #expect(attempts.count(of: FileName(Array("read".utf8))) == 1)
            #expect(try await counts(in: inbox).keys.sorted() == ["read"])
            for mark in look.marks { folder.unmark(mark.name) }
        }
        try await leaveMark(of: FileName(Array("gone".utf8)), in: maildir)
        try maildir.deliver(id: "read", as: "read")
        try await withCore(on: maildir, inbox: inbox) {
            try await eventually("it is taken") { maildir.names("cur").count == 1 }
        }
        #expect(try await counts(in: inbox).isEmpty)
        #expect(maildir.names("tmp").isEmpty)
    }

    @Test("A mark that is left by a core that was killed behind counting it is not counted again")
    func countedOnce() async throws {
        let maildir = try TestMaildir()
        let folder = try Maildir(path: maildir.path)
        let inbox = try await TestInbox()
        let name = FileName(Array("1".utf8))
        let arrivals = Maildir.Arrivals(messages: [name])
        for deaths in 1...3 {
            try await leaveMark(of: name, in: maildir)
            // Each core is killed before it removes a mark.
            for _ in 1...3 {
                var attempts = MailAttempts(in: inbox.store)
                try await attempts.load(standing: arrivals, marks: try folder.leftMarks())
                #expect(attempts.count(of: name) == deaths)
            }
        }
        for mark in try folder.leftMarks() { folder.unmark(mark.name) }
        var attempts = MailAttempts(in: inbox.store)
        try await attempts.load(standing: arrivals, marks: try folder.leftMarks())
        #expect(attempts.count(of: name) == 3)
    }

    @Test("A message that cores were reading when they ended comes last, and is not read a fourth time")
    func setAside() async throws {
        let maildir = try TestMaildir()
        for name in ["1-twice", "2-thrice", "3-never"] { try maildir.deliver(id: name, as: name) }
        let inbox = try await TestInbox()
        for (name, count) in [("1-twice", "2"), ("2-thrice", "3"), ("gone", "3")] {
            try await inbox.store.put(Key(Self.path + name), Array(count.utf8))
        }
        try await withCore(on: maildir, inbox: inbox) {
            try await eventually("all are dealt with") { maildir.names("new").isEmpty && inbox.reports.count == 1 }
        }
        #expect(inbox.callIDs == ["3-never", "1-twice", "2-thrice"])
        #expect(inbox.content(of: "2-thrice") == .nothingToShow, "whoever waits for it is answered")
        #expect(maildir.names(".Poison/new") == ["2-thrice"])
        #expect(inbox.reports[0].contains("3 times") && inbox.reports[0].contains(".Poison/new"))
        // A message that is tried again begins with no attempts. The record of a message that is gone is removed.
        #expect(try await counts(in: inbox).isEmpty)
    }

    @Test("Nothing is forgotten that a look at a part of the folder has not seen")
    func partialLook() async throws {
        let inbox = try await TestInbox()
        for name in ["seen", "unseen"] { try await inbox.store.put(Key(Self.path + name), Array("3".utf8)) }
        let seen = FileName(Array("seen".utf8))
        for isPartial in [true, false] {
            var attempts = MailAttempts(in: inbox.store)
            try await attempts.load(standing: Maildir.Arrivals(messages: [seen], isPartial: isPartial), marks: [])
            #expect(attempts.count(of: seen) == 3)
            #expect(attempts.count(of: FileName(Array("unseen".utf8))) == (isPartial ? 3 : 0))
        }
        #expect(try await counts(in: inbox) == ["seen": "3"])
    }

    @Test("A folder that cannot be used is said to be that, as where it is listed")
    func unusableFolder() throws {
        let maildir = try TestMaildir()
        try maildir.makeFolders()
        _ = try Directory.create(path: maildir.path + "/.Poison", permissions: 0o700)
        try maildir.write([], to: ".Poison/new")
        #expect(throws: SystemCallError.self) { try SetAsideMessage.all(beside: maildir.path) }
        #expect(throws: SystemCallError.self) { try SetAsideMessage.toRetry(.poison, of: maildir.path) }
    }

    @Test("Messages that were set aside are listed, and given back under a free name")
    func retry() async throws {
        let maildir = try TestMaildir()
        #expect(try SetAsideMessage.all(beside: maildir.path).isEmpty)
        for folder in ["/.Poison", "/.Oversized"] {
            _ = try Maildir(path: maildir.path + folder)
        }
        try maildir.write(Array("x".utf8), to: ".Poison/new/a")
        try maildir.write(Array("yy".utf8), to: ".Oversized/new/b")
        try maildir.makeFolders()
        try maildir.write(Array("other".utf8), to: "new/a")
        let listed = try SetAsideMessage.all(beside: maildir.path)
        #expect(listed.map(\.name) == ["b", "a"] && listed.map(\.folder) == [.oversized, .poison])
        #expect(listed.map(\.byteCount) == [2, 1])
        let retry = try #require(try SetAsideMessage.toRetry(.poison, of: maildir.path))
        #expect(retry.callIDs == [nil])
        try retry.giveBack(0)
        #expect(maildir.names("new") == ["a", "a_1"] && maildir.names(".Poison/new").isEmpty)
        #expect(try SetAsideMessage.toRetry(.malformed, of: maildir.path)?.callIDs == nil)
    }
}
