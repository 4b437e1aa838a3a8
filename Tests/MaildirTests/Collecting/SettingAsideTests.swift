internal import Coordination
internal import CoreAPI
internal import CoreAPITesting
internal import Glibc
internal import Mailboxes
internal import TestSupport
internal import Testing

@testable internal import MaildirCore

@Suite("Messages that cannot be delivered are set aside, reported and never lost")
struct SettingAsideTests {
    /// The answer for a message that is too large.
    private static let tooLarge = InboxMessage.Content.tooLarge(from: "ann@example.org", to: "bob@example.org")

    @Test("E2: a file that is no message goes to .Malformed, as it is, and the timeline says so")
    func malformed() async throws {
        let maildir = try TestMaildir()
        let files = [
            "empty": [], "noise": latin1("\u{89}PNG\r\n\u{1A}\n\0\0"),
            "nobody": Array("Subject: no identifier\n\nhi\n".utf8),
        ]
        for (name, bytes) in files { try maildir.deliver(bytes, as: name) }
        try maildir.deliver(id: "good")
        let inbox = try await TestInbox()
        try await withCore(on: maildir, inbox: inbox) {
            try await eventually("all four are dealt with") { inbox.reports.count == 3 && inbox.callIDs == ["good"] }
        }
        #expect(maildir.names("new").isEmpty)
        #expect(maildir.names(".Malformed/new") == ["empty", "nobody", "noise"])
        #expect(maildir.names(".Malformed") == ["cur", "maildirfolder", "new", "tmp"])
        for (name, bytes) in files {
            #expect(try maildir.content(of: ".Malformed/new/\(name)") == bytes)
            #expect(inbox.reports.filter { $0.contains("/new/\(name) ") && $0.contains(".Malformed/new") }.count == 1)
        }
    }

    @Test("E2: of a flood of files that are no messages the first are named, the others counted, and none is kept")
    func flood() async throws {
        let maildir = try TestMaildir()
        for number in 0..<1_500 {
            try maildir.deliver(number.isMultiple(of: 3) ? latin1("x\n") : [], as: String(10_000 + number))
        }
        try maildir.deliver(id: "good", as: "99999")
        let inbox = try await TestInbox()
        try await withCore(on: maildir, inbox: inbox) {
            try await eventually("all are dealt with", timeout: TestTimeout.long) {
                inbox.callIDs == ["good"] && maildir.names("new").isEmpty
            }
            try await eventually("all are told of") { inbox.reports.contains { $0.contains("more files") } }
        }
        #expect(maildir.names(".Malformed/new").count == 1_500)
        // In each of two rounds ten, and how many more there are.
        #expect((11...22).contains(inbox.reports.count), "\(inbox.reports.count)")
        #expect(inbox.reports.contains { $0.contains("/new/10000 ") })
    }

    @Test(
        "P11: in a group of much content messages are taken that are waited for, others one each second; none is lost")
    func muchContent() async throws {
        let maildir = try TestMaildir()
        let inbox = try await TestInbox()
        // More than an eighth of the 8 MiB that a process may have here.
        var content = Transaction()
        for number in 0..<2_000 { content.put(try Key("content/\(number)"), [1]) }
        _ = try await inbox.store.commit(content)
        let awaited = try Expectation.key(of: ItemName("4"), for: inbox.store.session.id)
        try await inbox.store.put(awaited, [1])
        for number in 1...4 { try maildir.deliver(id: "\(number)") }
        let clock = ManualClock()
        let begin = clock.now()
        try await withCore(on: maildir, inbox: inbox, clock: clock, memory: 8 << 20) {
            try await eventually("what may be taken at once is taken") { inbox.callIDs.count == 2 }
            try await eventually("all are taken") {
                clock.advance(by: .milliseconds(250))
                return inbox.callIDs.count == 4
            }
        }
        #expect(inbox.callIDs == ["1", "4", "2", "3"])
        #expect(begin.duration(to: clock.now()) >= MailRoom.pace * 2)
    }

    @Test(
        "P11: where all values are in memory, messages wait in their files for which the inbox has no room",
        arguments: [
            SessionRole.main, .executor,
        ])
    func fullInbox(role: SessionRole) async throws {
        let maildir = try TestMaildir()
        let inbox = try await TestInbox(role: role)
        let group = try Inbox(inbox.store)
        // Of the 24 MiB that a process may have here, an inbox has 2 MiB at most, and a text three quarters of one.
        let text = String(repeating: "x", count: 720_000)
        for id in ["former", "other"] {
            _ = try await group.store(
                InboxMessage(callID: try #require(CallID(id)), content: .text(from: "a@x", to: "b@x", text: text)))
        }
        try maildir.deliver(id: "awaited", text: text, as: "1000")
        try maildir.deliver(id: "behind", as: "1001")
        for id in ["awaited", "behind"] { try await expect(id, in: inbox) }
        try await withCore(on: maildir, inbox: inbox) {
            try await eventually("the small one is taken") { inbox.callIDs == ["behind"] }
            let former = try #require(try await group.mailbox.take())
            try await group.mailbox.acknowledge(former)
            try await eventually("the large one is taken when there is room") {
                inbox.callIDs == ["behind", "awaited"]
            }
        }
    }

    @Test("P11: the largest text comes into an empty inbox also where all values are in memory and none waits for it")
    func largestText() async throws {
        let maildir = try TestMaildir()
        let inbox = try await TestInbox()
        let limits = MailLimits(memory: 24 << 20, valueByteCount: 1 << 20, isResident: true)
        try maildir.deliver(id: "largest", text: String(repeating: "x", count: limits.textByteCount - 2))
        try await withCore(on: maildir, inbox: inbox, memory: 24 << 20) {
            try await eventually("it is taken") { inbox.callIDs == ["largest"] }
        }
    }

    @Test("P11: content counts with all of its bytes where all values are in memory")
    func largeContent() async throws {
        let maildir = try TestMaildir()
        let inbox = try await TestInbox()
        // More than an eighth of the 8 MiB that a process may have here, in two entries.
        for number in 1...2 {
            try await inbox.store.put(Key("content/\(number)"), Array(repeating: 1, count: 1_000_000))
        }
        for number in 1...3 { try maildir.deliver(id: "\(number)") }
        let clock = ManualClock()
        let begin = clock.now()
        try await withCore(on: maildir, inbox: inbox, clock: clock, memory: 8 << 20) {
            try await eventually("all are taken") {
                clock.advance(by: .milliseconds(250))
                return inbox.callIDs.count == 3
            }
        }
        #expect(begin.duration(to: clock.now()) >= MailRoom.pace * 2)
    }

    /// Records that a participant waits for a message.
    private func expect(_ callID: String, in inbox: TestInbox) async throws {
        _ = try await inbox.store.put(Expectation.key(of: ItemName(callID), for: inbox.store.session.id), [1])
    }

    @Test("P10: a core of an Executor leaves in new what no participant waits for, and takes it when one does")
    func onlyAwaited() async throws {
        let maildir = try TestMaildir()
        let inbox = try await TestInbox(limits: Limits(valueByteCount: 4096), role: .executor)
        for number in 1...60 { try maildir.deliver(id: "\(number)", as: String(1_000 + number)) }
        try maildir.deliver(id: "large", text: String(repeating: "x", count: 5000), as: "1999")
        // A message that cannot be announced has no participant that waits for it.
        try maildir.deliver("Subject: no identifier\n\nhi\n", as: "2000")
        try await expect("30", in: inbox)
        try await withCore(on: maildir, inbox: inbox) {
            try await eventually("all were read") { maildir.names(".Malformed/new") == ["2000"] }
            #expect(inbox.callIDs == ["30"])
            #expect(maildir.names("cur") == ["1030:2,S"] && maildir.names("new").count == 60)
            try await expect("50", in: inbox)
            try await eventually("it is taken when it is waited for") { inbox.callIDs == ["30", "50"] }
            try await expect("large", in: inbox)
            try await eventually("so is the notice of one that is too large") {
                maildir.names(".Oversized/new") == ["1999"]
            }
            try await expect("late", in: inbox)
            try maildir.deliver(id: "late", as: "2001")
            try await eventually("so is one that comes later") { inbox.callIDs.last == "late" }
        }
        #expect(inbox.callIDs == ["30", "50", "large", "late"] && maildir.names("new").count == 58)
    }

    @Test("C10: a core of an Executor moves the file of a message that was acknowledged, though no participant waits")
    func acknowledgedFile() async throws {
        let maildir = try TestMaildir()
        let inbox = try await TestInbox(role: .executor)
        let group = try Inbox(inbox.store)
        for id in ["shown", "stored"] {
            try await group.store(
                InboxMessage(callID: #require(CallID(id)), content: .text(from: "ann", to: "bob", text: "hi")))
            try maildir.deliver(id: id, as: id)
        }
        guard case .taken(let taken) = try await group.take(#require(CallID("shown"))) else {
            Issue.record("It is not there.")
            return
        }
        try await group.acknowledge(taken)
        try maildir.deliver("no message", as: "z")
        try await withCore(on: maildir, inbox: inbox) {
            try await eventually("all were read") { maildir.names(".Malformed/new") == ["z"] }
        }
        // The inbox keeps the other message for a limited time. After that, its file shows that it was stored.
        #expect(maildir.names("cur") == ["shown:2,S"] && maildir.names("new") == ["stored"])
    }

    @Test(
        "P11: while messages wait in their files, the core is told what is waited for, and asks once in a round"
    )
    func rounds() async throws {
        let maildir = try TestMaildir()
        let questions = Box(0)
        let inbox = try await TestInbox(
            role: .executor,
            through: { store in
                InterposedStore(
                    store, afterList: { prefix, _ in if prefix == Expectation.path { questions.update { $0 += 1 } } })
            })
        for number in 1...40 { try maildir.deliver(id: "\(number)") }
        try await withCore(on: maildir, inbox: inbox) {
            // Each message that the core has read leads to a question.
            try await eventually("all have been read, and wait") { questions.value >= 41 }
            let (begin, before) = (ContinuousClock.now, questions.value)
            try await eventually("more rounds have begun") { questions.value >= before + 4 }
            #expect(ContinuousClock.now - begin >= CollectionPace(role: .executor).held * 3)
        }
        #expect(inbox.callIDs.isEmpty)
    }

    @Test("P11: of a folder that waits for room, a message is taken that is waited for before the rest is read")
    func awaitedMeanwhile() async throws {
        let maildir = try TestMaildir()
        // With each message that it has read, the core asks which messages are waited for.
        let (readCount, countBefore) = (Box(0), Box<Int?>(nil))
        let inbox = try await TestInbox(
            beforeReturning: { message in
                if message.callID.text == "1001" { countBefore.update { $0 = readCount.value } }
            },
            through: { store in
                InterposedStore(
                    store,
                    afterList: { prefix, _ in
                        guard prefix == Expectation.path else { return }
                        readCount.update { $0 += 1 }
                        guard readCount.value == 30,
                            let key = try? Expectation.key(of: ItemName("1001"), for: store.session.id)
                        else { return }
                        _ = try? await store.put(key, [1])
                    })
            })
        var content = Transaction()
        for number in 0..<2_000 { content.put(try Key("content/\(number)"), [1]) }
        _ = try await inbox.store.commit(content)
        for number in 1_000..<1_400 { try maildir.deliver(id: "\(number)") }
        try await withCore(on: maildir, inbox: inbox, memory: 8 << 20) {
            try await eventually("it is taken") { countBefore.value != nil }
        }
        #expect(countBefore.value ?? 0 < 200, "messages of 400 that were read before")
    }

    @Test("Two files of one name are both kept aside")
    func sameName() async throws {
        let maildir = try TestMaildir()
        let inbox = try await TestInbox()
        try await withCore(on: maildir, inbox: inbox) {
            for text in ["first", "second"] {
                try maildir.deliver(text, as: "same")
                try await eventually("it is set aside") { maildir.names("new").isEmpty && inbox.reports.last != nil }
            }
        }
        #expect(maildir.names(".Malformed/new") == ["same", "same_1"])
    }

    @Test("C11: a message too large for a value goes to .Oversized, and no task waits for it in vain")
    func tooLargeForAValue() async throws {
        let maildir = try TestMaildir()
        try maildir.deliver(id: "large", text: String(repeating: "x", count: 5000), as: "large")
        try maildir.deliver(id: "small")
        let inbox = try await TestInbox(limits: Limits(valueByteCount: 4096))
        try await withCore(on: maildir, inbox: inbox) {
            try await eventually("both are dealt with") { inbox.reports.count == 1 && inbox.messages.count == 2 }
        }
        #expect(inbox.content(of: "large") == Self.tooLarge)
        #expect(maildir.names(".Oversized/new") == ["large"])
        #expect(maildir.names("new").isEmpty)
        #expect(maildir.names("cur") == ["small.mail:2,S"])
    }

    @Test("C11: a message that only the store finds too large goes the same way")
    func refusedAsTooLarge() async throws {
        let maildir = try TestMaildir()
        // The text alone is within the limit, the record is not.
        try maildir.deliver(id: "large", text: String(repeating: "x", count: 4090), as: "large")
        let inbox = try await TestInbox(limits: Limits(valueByteCount: 4096)) {
            $0.content == Self.tooLarge ? nil : SharedCoreError(.limitExceeded, "Too large.", at: "test")
        }
        try await withCore(on: maildir, inbox: inbox) {
            try await eventually("it is dealt with") { inbox.reports.count == 1 }
        }
        #expect(inbox.content(of: "large") == Self.tooLarge)
        #expect(maildir.names(".Oversized/new") == ["large"])
    }

    @Test("C11: of a file that is too large to be read, each call that waits for it is told its sender")
    func tooLargeToBeRead() async throws {
        var limits = MailLimits()
        limits.messageByteCount = 4096
        let sender = "Ann <\(String(repeating: "a", count: 2000))@example.org>"
        let desk = try ReadingDesk(limits: limits)
        let body = String(repeating: "x", count: 5000)
        let refusal = try await desk.refusal(
            of: "From: Zoë <zoe@example.org>\nTo: bob@example.org\nCall-ID: large\n\n" + body)
        #expect(refusal?.callID?.text == "large")
        #expect(refusal?.notice == .tooLarge(from: "Zoë <zoe@example.org>", to: "bob@example.org"))
        let long = try await desk.refusal(of: "From: \(sender)\nTo: bob@example.org\nCall-ID: large\n\n" + body)
        let notice = try #require(long?.notice)
        #expect(notice.kind == .tooLarge)
        #expect(notice.sender.hasPrefix("Ann <aaa") && notice.sender.utf8.count < 300)
    }

    @Test("C11: where not even the addresses fit into a value, the mark ends the wait")
    func noticeThatNeverFits() async throws {
        let maildir = try TestMaildir()
        try maildir.deliver(id: "large", text: String(repeating: "x", count: 5000), as: "large")
        let inbox = try await TestInbox(limits: Limits(valueByteCount: 512)) { message in
            message.content == .nothingToShow ? nil : SharedCoreError(.limitExceeded, "Too large.", at: "test")
        }
        try await withCore(on: maildir, inbox: inbox) {
            try await eventually("it is set aside") { maildir.names(".Oversized/new") == ["large"] }
        }
        #expect(inbox.content(of: "large") == .nothingToShow)
    }

    @Test("S10: a store at its own limit is full: a small message stays and is taken later")
    func storeAtItsLimit() async throws {
        let maildir = try TestMaildir()
        try maildir.deliver(id: "one", as: "one")
        // A mark without content may still find room; the message must not be given up for that.
        let inbox = try await TestInbox {
            $0.content == .nothingToShow ? nil : SharedCoreError(.storageFull, "The group is full.", at: "test")
        }
        try await withCore(on: maildir, inbox: inbox) {
            try await eventually("it is tried again") { inbox.attempts >= 4 }
            #expect(maildir.names("new") == ["one"])
            inbox.fail { _ in nil }
            try await eventually("it is taken") { maildir.names("cur") == ["one:2,S"] }
        }
        #expect(inbox.content(of: "one") == .text(from: "ann@example.org", to: "bob@example.org", text: "hello"))
    }

    @Test("S10: a large message waits for a store that has no room even for its mark")
    func markWithoutRoom() async throws {
        let maildir = try TestMaildir()
        try maildir.deliver(id: "large", text: String(repeating: "x", count: 5000), as: "large")
        let inbox = try await TestInbox(limits: Limits(valueByteCount: 4096)) {
            $0.content == Self.tooLarge
                ? SharedCoreError(.storageFull, "The group is full.", at: "test")
                : SharedCoreError(.limitExceeded, "Too large.", at: "test")
        }
        try await withCore(on: maildir, inbox: inbox) {
            try await eventually("it is tried again") { inbox.attempts >= 3 }
            #expect(maildir.names("new") == ["large"])
            inbox.fail { _ in nil }
            try await eventually("it is set aside") { maildir.names(".Oversized/new") == ["large"] }
        }
        #expect(inbox.content(of: "large") == Self.tooLarge)
    }

    @Test("C4, C8: a superseded core sets nothing aside that a call waits for")
    func supersededWhileSettingAside() async throws {
        let maildir = try TestMaildir()
        try maildir.deliver(HostileMessageTests.nested(500), as: "deep")
        let inbox = try await TestInbox { _ in SharedCoreError(.guardFailed, "Superseded.", at: "test") }
        let end = try await endOfCore(on: maildir, inbox: inbox)
        #expect((end as? SharedCoreError)?.code == .guardFailed)
        #expect(maildir.names("new") == ["deep"])
    }

    @Test("C11: absurd nesting ends the wait for its identifier and is set aside")
    func nestedTooDeep() async throws {
        let maildir = try TestMaildir()
        try maildir.deliver(HostileMessageTests.nested(20_000), as: "deep")
        let inbox = try await TestInbox()
        try await withCore(on: maildir, inbox: inbox) {
            try await eventually("it is set aside") { maildir.names(".Malformed/new") == ["deep"] }
        }
        #expect(inbox.content(of: "a@b") == .nothingToShow)
    }

    @Test("An identifier that the inbox refuses sets the message aside")
    func refusedIdentifier() async throws {
        let maildir = try TestMaildir()
        try maildir.deliver(id: "odd", as: "odd")
        let inbox = try await TestInbox { _ in SharedCoreError(.invalidArgument, "Odd.", at: "test") }
        try await withCore(on: maildir, inbox: inbox) {
            try await eventually("it is set aside") { maildir.names(".Malformed/new") == ["odd"] }
        }
        #expect(inbox.attempts == 1)
    }

    @Test("S10, C8: messages that cannot be stored hold up none behind them")
    func troubledMessagesHoldUpNone() async throws {
        let maildir = try TestMaildir()
        for name in ["1-troubled", "2-troubled", "3-good"] { try maildir.deliver(id: name, as: name) }
        let inbox = try await TestInbox { message in
            message.callID.text.hasSuffix("troubled")
                ? SharedCoreError(.storageFull, "There is no space for it.", at: "test") : nil
        }
        try await withCore(on: maildir, inbox: inbox) {
            try await eventually("the good one is taken") { inbox.callIDs == ["3-good"] }
            try await eventually("it is acknowledged") { maildir.names("cur") == ["3-good:2,S"] }
            #expect(maildir.names("new") == ["1-troubled", "2-troubled"])
            inbox.fail { _ in nil }
            try await eventually("the others are taken when they can be") { maildir.names("new").isEmpty }
        }
        #expect(Set(inbox.callIDs) == ["1-troubled", "2-troubled", "3-good"])
        #expect(inbox.reports.count == 1, "one trouble is told once: \(inbox.reports)")
    }

    @Test("E2, C11: a message whose identifier fits into no record is set aside, without a mark, and stops nothing")
    func identifierThatNeverFits() async throws {
        let maildir = try TestMaildir()
        let identifier = String(repeating: "i", count: 600)
        try maildir.deliver(id: identifier, as: "1-long")
        try maildir.deliver(id: "good", as: "2-good")
        let inbox = try await TestInbox(limits: Limits(valueByteCount: 512)) { message in
            message.callID.text == identifier
                ? SharedCoreError(.limitExceeded, "A message has at most 512 bytes.", at: "test") : nil
        }
        try await withCore(on: maildir, inbox: inbox) {
            try await eventually("both are dealt with") { maildir.names("new").isEmpty }
        }
        #expect(maildir.names(".Oversized/new") == ["1-long"])
        #expect(inbox.callIDs == ["good"])
        #expect(inbox.reports.count == 1)
    }
}
