internal import Coordination
internal import CoreAPI
internal import CoreAPITesting
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

    @Test("Reading is written down in the group while it lasts, and not longer")
    func written() async throws {
        let maildir = try TestMaildir()
        for name in ["1", "2"] { try maildir.deliver(id: name, as: name) }
        let inbox = try await TestInbox()
        var attempts = MailAttempts(in: inbox.store)
        try await attempts.begin(FileName(Array("1".utf8)))
        #expect(try await counts(in: inbox) == ["1": "1"])
        try await attempts.end(FileName(Array("1".utf8)))
        #expect(try await counts(in: inbox).isEmpty)
        try await withCore(on: maildir, inbox: inbox) {
            try await eventually("both are taken") { maildir.names("cur").count == 2 }
        }
        #expect(try await counts(in: inbox).isEmpty)
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
        // Tried again, it begins anew; what has gone is forgotten.
        #expect(try await counts(in: inbox).isEmpty)
    }

    @Test("A message that waits for a full store is not held to have ended anything")
    func fullStore() async throws {
        let maildir = try TestMaildir()
        try maildir.deliver(id: "one", as: "one")
        let inbox = try await TestInbox { _ in SharedCoreError(.storageFull, "There is no space for it.", at: "test") }
        try await withCore(on: maildir, inbox: inbox) {
            try await eventually("it is tried again") { inbox.attempts >= 3 }
            try await eventually("nothing is counted while it waits") { try await counts(in: inbox).isEmpty }
        }
        #expect(maildir.names("new") == ["one"])
    }

    @Test("What is set aside is listed and given back, under a name that is free")
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
        #expect(try SetAsideMessage.retry(.poison, of: maildir.path) == 1)
        #expect(maildir.names("new") == ["a", "a_1"] && maildir.names(".Poison/new").isEmpty)
        #expect(try SetAsideMessage.retry(.malformed, of: maildir.path) == 0)
    }
}
