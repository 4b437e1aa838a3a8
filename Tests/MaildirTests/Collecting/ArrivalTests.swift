internal import Coordination
internal import CoreAPI
internal import CoreAPITesting
internal import Glibc
internal import Platform
internal import TestSupport
internal import Testing

@testable internal import MaildirCore

@Suite("Messages are taken as they arrive, from any program")
struct ArrivalTests {
    @Test("Waiting mail is taken first, and later mail as soon as it is moved in")
    func takesEarlyAndLate() async throws {
        let maildir = try TestMaildir()
        try maildir.deliver(id: "early")
        // A Main polls by itself only every 10 s, so mail that comes sooner came by the wake channel; see the test
        // below.
        let inbox = try await TestInbox(role: .main)
        try await withCore(on: maildir, inbox: inbox) {
            try await eventually("the waiting one is taken") { inbox.callIDs == ["early"] }
            try maildir.deliver(id: "late")
            try await eventually("the new one is taken") { inbox.callIDs == ["early", "late"] }
        }
    }

    @Test("Of a folder the first names are listed, in their order, and no more than were asked for")
    func firstNames() throws {
        let maildir = try TestMaildir()
        try maildir.makeFolders()
        for number in (0..<300).shuffled() { try maildir.write([], to: "new/\(1_000 + number)") }
        let folders = try Maildir(path: maildir.path)
        let first = try folders.arrivals(limit: 100)
        #expect(first.isPartial && first.messages.map(\.description) == (1_000..<1_100).map { "\($0)" })
        let all = try folders.arrivals(limit: 300)
        #expect(!all.isPartial && all.messages.map(\.description) == (1_000..<1_300).map { "\($0)" })
        let some = try folders.arrivals(limit: 2) { $0.description.hasSuffix("7") }
        #expect(some.isPartial && some.messages.map(\.description) == ["1007", "1017"])
    }

    @Test("A file that is being copied is left until it is complete")
    func waitsForCopies() async throws {
        let maildir = try TestMaildir()
        try maildir.makeFolders()
        let bytes = Array(TestMaildir.message(id: "copied", text: "begin and end").utf8)
        let inbox = try await TestInbox(role: .main)
        try await withCore(on: maildir, inbox: inbox) {
            var copy: OpenFile? = try OpenFile(path: maildir.path + "/new/copy", .createNew)
            try copy?.write(Array(bytes.prefix(bytes.count - 8)), at: 0)
            // Makes the core read while the copy is half done, twice.
            for marker in ["first", "second"] {
                try maildir.deliver(id: marker)
                try await eventually("the other is taken") { inbox.callIDs.contains(marker) }
            }
            #expect(maildir.names("new").contains("copy"))
            #expect(!inbox.callIDs.contains("copied"))
            try copy?.write(Array(bytes.suffix(8)), at: bytes.count - 8)
            copy = nil
            try await eventually("the copy is taken") { inbox.callIDs.contains("copied") }
        }
        #expect(
            inbox.content(of: "copied") == .text(from: "ann@example.org", to: "bob@example.org", text: "begin and end"))
    }

    @Test("A file that was being copied when the core started is left until it is complete")
    func waitsForCopiesFromBefore() async throws {
        let maildir = try TestMaildir()
        try maildir.makeFolders()
        let bytes = Array(TestMaildir.message(id: "copied", text: "begin and end").utf8)
        var copy: OpenFile? = try OpenFile(path: maildir.path + "/new/copy", .createNew)
        let inbox = try await TestInbox()
        try await withCore(on: maildir, inbox: inbox) {
            try maildir.deliver(id: "other")
            try await eventually("the other is taken") { inbox.callIDs == ["other"] }
            #expect(maildir.names("new").contains("copy"))
            #expect(!inbox.callIDs.contains("copied"))
            try copy?.write(bytes, at: 0)
            copy = nil
            try await eventually("the copy is taken") { inbox.callIDs == ["other", "copied"] }
        }
        #expect(maildir.names(".Malformed").isEmpty)
    }

    @Test("A file that is linked in while it is written elsewhere is taken when no process has it open any more")
    func waitsForWritersElsewhere() async throws {
        let maildir = try TestMaildir()
        try maildir.makeFolders()
        let bytes = Array(TestMaildir.message(id: "linked", text: "begin and end").utf8)
        // A Main polls by itself only after 10 s, and `new` has no signal when a file is closed in `tmp`.
        let inbox = try await TestInbox(role: .main)
        try await withCore(on: maildir, inbox: inbox) {
            var copy: OpenFile? = try OpenFile(path: maildir.path + "/tmp/linked", .createNew)
            #expect(link(maildir.path + "/tmp/linked", maildir.path + "/new/linked") == 0)
            // The messages come one after the other, so that in the end the core has received every signal and waits.
            for number in 1...5 {
                try maildir.deliver(id: "other\(number)")
                try await eventually("the other is taken") { maildir.names("cur").count == number }
            }
            #expect(!inbox.callIDs.contains("linked"))
            try copy?.write(bytes, at: 0)
            copy = nil
            try await eventually("the linked one is taken") { inbox.callIDs.last == "linked" }
        }
        #expect(maildir.names(".Malformed").isEmpty)
    }

    @Test(
        "A Maildir is found behind a link of this user, and behind none of another user",
        .enabled(if: getuid() == 0, "it takes root to give a link away"))
    func foreignLink() throws {
        let maildir = try TestMaildir()
        try maildir.makeFolders()
        let outside = try TemporaryDirectory()
        let link = outside.path(of: "link")
        #expect(symlink(maildir.path, link) == 0)
        _ = try Maildir(path: link)
        #expect(lchown(link, 65534, 65534) == 0)
        let error = #expect(throws: SystemCallError.self) { try Maildir(path: link) }
        #expect(error?.number == EACCES)
        // A directory in the Maildir is replaced by a link.
        #expect(rmdir(maildir.path + "/cur") == 0 && symlink("tmp", maildir.path + "/cur") == 0)
        #expect(throws: SystemCallError.self) { try Maildir(path: maildir.path) }
    }

    @Test("Links, pipes, folders and names with a dot are neither followed nor opened; the rest is reported once")
    func passesOver() async throws {
        let maildir = try TestMaildir()
        try maildir.makeFolders()
        let outside = try TemporaryDirectory()
        let secret = outside.path(of: "secret")
        try OpenFile(path: secret, .create).write(Array(TestMaildir.message(id: "secret").utf8), at: 0)
        let new = maildir.path + "/new/"
        #expect(symlink(secret, new + "link") == 0)
        #expect(mkfifo(new + "pipe", 0o600) == 0)
        #expect(mkdir(new + "folder", 0o700) == 0)
        try maildir.write(Array(TestMaildir.message(id: "hidden").utf8), to: "new/.hidden")
        let inbox = try await TestInbox()
        try await withCore(on: maildir, inbox: inbox) {
            for marker in ["first", "second", "third"] {
                try maildir.deliver(id: marker)
                try await eventually("the other is taken") { inbox.callIDs.contains(marker) }
            }
        }
        #expect(inbox.callIDs == ["first", "second", "third"])
        #expect(maildir.names("new") == [".hidden", "folder", "link", "pipe"])
        #expect(inbox.reports.count == 3)
        for name in ["link", "pipe", "folder"] {
            #expect(inbox.reports.filter { $0.contains("/new/\(name) ") }.count == 1)
        }
    }

    @Test("A name that is no text is a name like any other")
    func takesAnyName() async throws {
        let maildir = try TestMaildir()
        try maildir.deliver(id: "plain", as: "plain")
        let name: [CChar] = Array((maildir.path + "/new/").utf8CString.dropLast()) + [0x41, -1, -2, 0]
        #expect(rename(maildir.path + "/new/plain", name) == 0)
        let inbox = try await TestInbox()
        try await withCore(on: maildir, inbox: inbox) {
            try await eventually("it is taken") { maildir.names("new").isEmpty && inbox.callIDs == ["plain"] }
        }
        #expect(maildir.names("cur").count == 1)
    }

    @Test("A Maildir that is moved away while the core runs is made anew, and listened to")
    func noticesNewFolders() async throws {
        let maildir = try TestMaildir()
        try maildir.deliver(id: "before")
        let inbox = try await TestInbox()
        try await withCore(on: maildir, inbox: inbox) {
            try await eventually("the first is taken") { inbox.callIDs == ["before"] }
            #expect(rename(maildir.path, maildir.path + ".old") == 0)
            try await eventually("the folders are there again") {
                ["cur", "new", "tmp"] == maildir.names("")
            }
            try maildir.deliver(id: "after")
            try await eventually("the second is taken") { inbox.callIDs == ["before", "after"] }
        }
    }

    @Test("A thousand messages, half of them waiting, all arrive once and end in cur", .timeLimit(.minutes(10)))
    func takesAThousand() async throws {
        let maildir = try TestMaildir()
        for number in 0..<500 { try maildir.deliver(id: "m\(number)") }
        let inbox = try await TestInbox()
        try await withCore(on: maildir, inbox: inbox) {
            for number in 500..<1000 { try maildir.deliver(id: "m\(number)") }
            try await eventually("all are in cur", timeout: TestTimeout.long) { maildir.names("cur").count == 1000 }
        }
        #expect(Set(inbox.callIDs) == Set((0..<1000).map { "m\($0)" }))
        #expect(inbox.acceptances.allSatisfy { $0 == .stored })
        #expect(maildir.names("new").isEmpty)
    }
}
