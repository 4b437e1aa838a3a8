internal import Coordination
internal import CoreAPI
internal import CoreAPITesting
internal import MaildirCore
internal import TestSupport
internal import Testing

@Suite("Contract C8: a message is acknowledged only when it is committed")
struct StoreThenAcknowledgeTests {
    @Test("C8: until its delivery has returned, a message is in new; then it is in cur, marked as seen")
    func movesAfterStoring() async throws {
        let maildir = try TestMaildir()
        try maildir.deliver(id: "one", as: "1.one")
        let foldersWhileStoring = Box<[[String]]>([])
        let inbox = try await TestInbox(beforeReturning: { _ in
            foldersWhileStoring.update { $0 = [maildir.names("new"), maildir.names("cur")] }
        })
        try await withCore(on: maildir, inbox: inbox) {
            try await eventually("the message is in cur") { maildir.names("cur") == ["1.one:2,S"] }
        }
        #expect(foldersWhileStoring.value == [["1.one"], []])
        #expect(maildir.names("new").isEmpty)
        #expect(
            inbox.content(of: "one") == .text(from: "ann@example.org", to: "bob@example.org", text: "hello"))
    }

    @Test(
        "C4, C8: a core that is superseded, or whose session or store is gone, ends and leaves the message",
        arguments: [
            SharedCoreError.Code.guardFailed, .sessionEnded, .closed, .corrupt, .incompatible,
        ])
    func endsWhenNothingCanBeStored(_ code: SharedCoreError.Code) async throws {
        let maildir = try TestMaildir()
        for number in 1...3 { try maildir.deliver(id: "m\(number)") }
        let inbox = try await TestInbox { _ in SharedCoreError(code, "No more.", at: "test") }
        let end = try await endOfCore(on: maildir, inbox: inbox)
        #expect((end as? SharedCoreError)?.code == code)
        #expect(inbox.attempts == 1)
        #expect(maildir.names("new").count == 3)
        #expect(maildir.names("cur").isEmpty)
    }

    @Test("C10: killed between commit and move, the next core hears of a duplicate and moves the message")
    func movesDuplicates() async throws {
        let maildir = try TestMaildir()
        try maildir.deliver(id: "one", as: "1.one")
        // The first core's delivery does not return until the second core is done: for the folder, as if it were dead.
        let reached = Promise<Void>()
        let ended = Promise<Void>()
        let dead = try await TestInbox(beforeReturning: { _ in
            reached.open()
            await ended.pass()
        })
        let core = MaildirCore(directory: maildir.path)
        try await core.start(in: dead.context)
        let work = Task { try await core.iterate(in: dead.context) }
        await reached.pass()
        #expect(maildir.names("new") == ["1.one"])
        let message = try #require(dead.messages.first)

        let next = try await TestInbox()
        _ = try await next.context.deliver(message)
        try await withCore(on: maildir, inbox: next) {
            try await eventually("the message is in cur") { maildir.names("cur") == ["1.one:2,S"] }
        }
        #expect(next.acceptances == [.stored, .duplicate])
        #expect(next.callIDs == ["one"])
        work.cancel()
        ended.open()
        try await withTimeout(TestTimeout.usual, "the first core ends") { try await work.value }
        await core.stop()
    }

    @Test("C10: a duplicate from the network is stored once and moved as well")
    func storesOnce() async throws {
        let maildir = try TestMaildir()
        try maildir.deliver(id: "one", as: "1.one")
        try maildir.deliver(id: "one", as: "2.one")
        let inbox = try await TestInbox()
        try await withCore(on: maildir, inbox: inbox) {
            try await eventually("both are in cur") { maildir.names("cur") == ["1.one:2,S", "2.one:2,S"] }
        }
        #expect(inbox.acceptances == [.stored, .duplicate])
    }

    @Test(
        "S10: a full or unreachable store leaves the message in new, reported once, and takes it later",
        arguments: [
            SharedCoreError.Code.storageFull, .unavailable, .outcomeUnknown, .system, .forbidden,
        ])
    func triesAgain(_ code: SharedCoreError.Code) async throws {
        let maildir = try TestMaildir()
        try maildir.deliver(id: "one", as: "1.one")
        let inbox = try await TestInbox { _ in SharedCoreError(code, "Not now.", at: "test") }
        try await withCore(on: maildir, inbox: inbox) {
            try await eventually("it is tried several times") { inbox.attempts >= 3 }
            #expect(maildir.names("new") == ["1.one"])
            #expect(inbox.reports.count == 1)
            inbox.fail { _ in nil }
            try await eventually("it is taken") { maildir.names("cur") == ["1.one:2,S"] }
        }
        #expect(inbox.callIDs == ["one"])
        #expect(inbox.reports.count == 1)
    }

    @Test("A message that cannot be stored now does not delay the others")
    func holdsUpNoOther() async throws {
        let maildir = try TestMaildir()
        for number in 1...5 { try maildir.deliver(id: "m\(number)", as: "\(number)") }
        let inbox = try await TestInbox {
            $0.callID.text == "m1" ? SharedCoreError(.storageFull, "Too much.", at: "test") : nil
        }
        try await withCore(on: maildir, inbox: inbox) {
            try await eventually("the others are taken") { inbox.callIDs == ["m2", "m3", "m4", "m5"] }
        }
        #expect(maildir.names("new") == ["1"])
    }

    @Test("No file in cur is ever replaced")
    func replacesNothing() async throws {
        let maildir = try TestMaildir()
        try maildir.deliver(id: "new", as: "same")
        try maildir.write(Array("old".utf8), to: "cur/same:2,S")
        let inbox = try await TestInbox()
        try await withCore(on: maildir, inbox: inbox) {
            try await eventually("both are in cur") { maildir.names("cur") == ["same:2,S", "same_1:2,S"] }
        }
        #expect(try maildir.content(of: "cur/same:2,S") == Array("old".utf8))
    }
}
