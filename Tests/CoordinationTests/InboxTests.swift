import CoreAPI
import CoreAPITesting
import InMemoryBackend
import Mailboxes
import TestSupport
import Testing

@testable import Coordination

@Suite("Inbox: one record per call-id (C8, C10, C11, C12)")
struct InboxTests {
    @Test("C10: absent, stored, taken, acknowledged: what a look answers on the way of a message")
    func way() async throws {
        let fixture = try await InboxFixture()
        let owner = try Inbox(await fixture.participant(.main))
        let group = try await fixture.participant()
        let executor = try Inbox(group)
        let message = try textMessage("call-1")
        #expect(try await executor.state(of: message.callID) == .absent)
        #expect(try await owner.store(message) == .stored)
        #expect(try await executor.state(of: message.callID) == .stored(message))

        guard case .taken(let taken) = try await executor.take(message.callID) else {
            Issue.record("a stored message can be taken")
            return
        }
        #expect(taken.message == message)
        #expect(try await owner.state(of: message.callID) == .taken(by: group.session.id))
        #expect(try await owner.take(message.callID) == .unavailable(.taken(by: group.session.id)))

        try await executor.acknowledge(taken)
        #expect(try await owner.state(of: message.callID) == .acknowledged)
        #expect(try await owner.take(message.callID) == .unavailable(.acknowledged))
    }

    @Test("C10: a consumer killed before its acknowledgement gives the message back")
    func killedConsumer() async throws {
        let fixture = try await InboxFixture()
        let message = try textMessage("call-1")
        let inbox = try Inbox(fixture.keeper)
        let group = try await fixture.participant()
        try await inbox.store(message)
        let doomed = try Inbox(group)
        guard case .taken(let taken) = try await doomed.take(message.callID) else {
            Issue.record("a stored message can be taken")
            return
        }
        group.simulateKill()
        #expect(try await inbox.state(of: message.callID) == .stored(message))
        guard case .taken = try await inbox.take(message.callID) else {
            Issue.record("what was given back can be taken")
            return
        }
        #expect(try await inbox.acknowledge(taken) == .superseded, "by the take of the dead")
    }

    @Test("C10: a message goes to one of those that take all, also one that is given back; an unreadable one is left")
    func deliveries() async throws {
        let fixture = try await InboxFixture()
        let store = try Inbox(fixture.keeper)
        for id in ["b", "a"] { try await store.store(try textMessage(id)) }
        try await fixture.keeper.put(".sharedcore/inbox/future/m", [9, 1, 2])
        let doomedGroup = try await fixture.participant()
        let doomed = try Inbox(doomedGroup)
        let inHand = try await doomed.take()
        #expect(inHand?.message.callID.text == "b")
        let main = try Inbox(await fixture.participant(.main))
        let deliveries = try await main.deliveries()
        var iterator = deliveries.makeAsyncIterator()
        let first = try #require(try await iterator.next())
        #expect(first.message == (try textMessage("a")))
        #expect(try await main.take() == nil)
        #expect(try await main.acknowledge(first) != .superseded)
        doomedGroup.simulateKill()
        let second = try #require(try await iterator.next())
        #expect(second.message.callID.text == "b")
        #expect(try await store.state(of: callID("b")) == .taken(by: main.mailbox.store.session.id))
        try await main.giveBack(second)
        #expect(try await iterator.next()?.message.callID.text == "b")
        // Stored while it waits.
        let waiting = Task {
            var iterator = deliveries.makeAsyncIterator()
            return try await iterator.next()?.message.callID.text
        }
        try await store.store(try textMessage("c"))
        #expect(try await waiting.value == "c")
        deliveries.cancel()
        #expect(try await iterator.next() == nil)
    }

    @Test("C10: a message whose take has failed is delivered by the next call")
    func failedTake() async throws {
        let fixture = try await InboxFixture()
        try await Inbox(fixture.keeper).store(try textMessage("a"))
        let failing = InterposedStore(try await fixture.participant(.main)) { () throws(SharedCoreError) in
            throw SharedCoreError(.limitExceeded, "The group is full.", at: "test")
        }
        let deliveries = try await Inbox(failing).deliveries()
        let received = try await withTimeout(TestTimeout.usual, "the message is delivered") {
            var iterator = deliveries.makeAsyncIterator()
            var code: SharedCoreError.Code?
            do throws(SharedCoreError) {
                _ = try await iterator.next()
            } catch {
                code = error.code
            }
            return (code, try await iterator.next()?.message.callID.text)
        }
        #expect(received.0 == .limitExceeded && received.1 == "a")
    }

    @Test("C10: a duplicate is stored once, in every state, until the record expires")
    func duplicate() async throws {
        let fixture = try await InboxFixture()
        let inbox = try Inbox(fixture.keeper)
        let message = try textMessage("call-1")
        let again = try textMessage("call-1", "again")
        #expect(try await inbox.store(message) == .stored)
        #expect(try await inbox.store(again) == .duplicate)
        guard case .taken(let taken) = try await inbox.take(message.callID) else {
            Issue.record("a stored message can be taken")
            return
        }
        #expect(taken.message == message)
        #expect(try await inbox.store(again) == .duplicate)
        try await inbox.acknowledge(taken)
        #expect(try await inbox.store(again) == .duplicate)
        fixture.clock.advance(by: .seconds(299))
        #expect(try await inbox.store(again) == .duplicate)
        fixture.clock.advance(by: .seconds(2))
        #expect(try await inbox.store(again) == .stored)
    }

    @Test("C10: records expire after five minutes unless configured otherwise")
    func lifetime() async throws {
        let fixture = try await InboxFixture()
        let usual = try Inbox(fixture.keeper)
        let short = try Inbox(fixture.keeper, lifetime: .seconds(10))
        try await usual.store(try textMessage("usual"))
        try await short.store(try textMessage("short"))
        fixture.clock.advance(by: .seconds(11))
        #expect(try await usual.state(of: try callID("short")) == .absent)
        fixture.clock.advance(by: .seconds(288))
        #expect(try await usual.state(of: try callID("usual")) != .absent)
        fixture.clock.advance(by: .seconds(2))
        #expect(try await usual.state(of: try callID("usual")) == .absent)
    }

    @Test("C11: a message without anything to show leaves the mark that ends the wait")
    func nothingToShow() async throws {
        let inbox = try Inbox(await InboxFixture().keeper)
        let message = InboxMessage(callID: try callID("report"), content: .nothingToShow)
        #expect(try await inbox.store(message) == .stored)
        #expect(try await inbox.state(of: message.callID) == .nothingToShow)
        #expect(try await inbox.state(of: message.callID).endsWait)
        #expect(try await inbox.take(message.callID) == .unavailable(.nothingToShow))
        #expect(try await inbox.store(message) == .duplicate)
    }

    @Test("C11: it does not replace a message of the same call-id")
    func nothingAfterSomething() async throws {
        let inbox = try Inbox(await InboxFixture().keeper)
        let message = try textMessage("call-1")
        try await inbox.store(message)
        let report = InboxMessage(callID: message.callID, content: .nothingToShow)
        #expect(try await inbox.store(report) == .duplicate)
        #expect(try await inbox.state(of: message.callID) == .stored(message))
    }

    @Test(
        "C12: an invitation goes the same way, and so does what is said of a message that is too large",
        arguments: [
            InboxMessage.Content.invitation(from: "sip:ann@x", subject: "Lunch", localAddress: "sip:me@x"),
            .tooLarge(from: "sip:ann@x", to: "sip:me@x"),
        ])
    func otherContent(content: InboxMessage.Content) async throws {
        let inbox = try Inbox(await InboxFixture().keeper)
        let message = InboxMessage(callID: try callID("sip:room@conference"), content: content)
        try await inbox.store(message)
        guard case .taken(let taken) = try await inbox.take(message.callID) else {
            Issue.record("what is stored can be taken")
            return
        }
        #expect(taken.message == message)
    }

    @Test("C12: a notice is forgotten, unless a participant has it in hand or a message stands in its place")
    func forgottenNotice() async throws {
        let fixture = try await InboxFixture()
        let inbox = try Inbox(fixture.keeper)
        let notice = InboxMessage(callID: try callID("large"), content: .tooLarge(from: "sip:ann@x", to: "sip:me@x"))
        #expect(try await inbox.forgetNotice(of: notice.callID) == .gone, "nothing is there")
        try await inbox.store(notice)
        let group = try await fixture.participant()
        let other = try Inbox(group)
        let changing = try Inbox(
            InterposedStore(
                fixture.keeper,
                once: { () async throws(SharedCoreError) in _ = try await other.take(notice.callID) }))
        #expect(try await changing.forgetNotice(of: notice.callID) == .changed)
        #expect(try await inbox.forgetNotice(of: notice.callID) == .taken)
        await group.close()
        #expect(try await inbox.forgetNotice(of: notice.callID) == .gone)
        #expect(try await inbox.state(of: notice.callID) == .absent)
        // The mark that is left when a notice was shown, or when there is nothing to show.
        try await inbox.store(InboxMessage(callID: notice.callID, content: .nothingToShow))
        #expect(try await inbox.forgetNotice(of: notice.callID) == .gone)
        #expect(try await inbox.state(of: notice.callID) == .absent)
        let message = try textMessage("shown")
        try await inbox.store(message)
        #expect(try await inbox.forgetNotice(of: message.callID) == .message)
        #expect(try await inbox.state(of: message.callID) == .stored(message))
    }

    @Test("C10: a wait goes on while the message is taken")
    func endsWait() {
        #expect(!InboxState.absent.endsWait)
        #expect(!InboxState.taken(by: SessionID(rawValue: 1)).endsWait)
        #expect(InboxState.acknowledged.endsWait)
    }

    @Test("C10: call-ids of any text are told apart and found again")
    func hostileCallIDs() async throws {
        let inbox = try Inbox(await InboxFixture().keeper)
        let long = String(repeating: "x", count: 600)
        let ids = [
            "a", "a/b", "a%2Fb", "a/b/m", "..", "\u{0}", "%", "%00", "é", "e\u{301}", "😀", " ", long, long + "y",
            String(repeating: "/", count: 600), "%sha256-0",
        ]
        for (number, id) in ids.enumerated() {
            #expect(try await inbox.store(try textMessage(id, "\(number)")) == .stored)
        }
        for (number, id) in ids.enumerated() {
            guard case .taken(let taken) = try await inbox.take(try callID(id)) else {
                Issue.record("the message of \(id.prefix(20)) is found")
                continue
            }
            #expect(taken.message.content.text == "\(number)")
            #expect(taken.message.callID.text.utf8.elementsEqual(id.utf8))
        }
    }

    @Test("C8: a message larger than a value is refused with a typed error that names its call-id")
    func tooLarge() async throws {
        let inbox = try Inbox(await InboxFixture(limits: Limits(valueByteCount: 256)).keeper)
        let message = try textMessage("big", String(repeating: "x", count: 300))
        do throws(SharedCoreError) {
            try await inbox.store(message)
            Issue.record("it is refused")
        } catch {
            #expect(error.code == .limitExceeded)
            #expect(error.location.contains("big"))
        }
        #expect(try await inbox.state(of: try callID("big")) == .absent)
    }

    @Test("C4, C10: with a core's condition first, a superseded core is refused before duplicates are judged")
    func epochFirst() async throws {
        let fixture = try await InboxFixture()
        let inbox = try Inbox(fixture.keeper)
        let message = try textMessage("call-1")
        try await inbox.store(message)
        var transaction = Transaction(guards: [.exists("owner")])
        try inbox.storeOperations(for: message, into: &transaction)
        do throws(SharedCoreError) {
            _ = try await fixture.keeper.commit(transaction)
            Issue.record("it is refused")
        } catch {
            #expect(error.code == .guardFailed)
            #expect(!inbox.isDuplicate(error, of: message.id))
        }
        try await fixture.keeper.put("owner", [])
        do throws(SharedCoreError) {
            _ = try await fixture.keeper.commit(transaction)
            Issue.record("it is refused")
        } catch {
            #expect(inbox.isDuplicate(error, of: message.id))
        }
    }

    @Test("C10: if a hundred participants take one message at once, one gets it")
    func race() async throws {
        let fixture = try await InboxFixture()
        let message = try textMessage("call-1")
        try await Inbox(fixture.keeper).store(message)
        var groups: [MemoryGroup] = []
        for _ in 0..<100 { groups.append(try await fixture.participant()) }
        let takes = try await together(100) { [groups] number in
            try await Inbox(groups[number]).take(message.callID)
        }
        let taken = takes.filter { if case .taken = $0 { true } else { false } }
        #expect(taken.count == 1)
    }

    @Test("C10: a message that another takes in between is not taken twice")
    func interleaved() async throws {
        let fixture = try await InboxFixture()
        let message = try textMessage("call-1")
        let group = try await fixture.participant()
        let other = try Inbox(group)
        try await other.store(message)
        let slow = try Inbox(
            InterposedStore(
                fixture.keeper,
                once: { () async throws(SharedCoreError) in
                    _ = try await other.take(message.callID)
                }))
        #expect(try await slow.take(message.callID) == .unavailable(.taken(by: group.session.id)))
    }

    @Test(
        "E2: damaged and foreign records give typed errors",
        arguments: [
            ([], SharedCoreError.Code.incompatible), ([9, 1, 2], .incompatible), ([1], .corrupt),
            ([1, 1, 97, 1, 255], .corrupt), ([1, 1, 98, 3], .corrupt), ([1, 1, 97, 9], .corrupt),
            ([1, 1, 97, 3, 0], .corrupt),
        ] as [([UInt8], SharedCoreError.Code)])
    func damaged(bytes: [UInt8], expected: SharedCoreError.Code) async throws {
        let fixture = try await InboxFixture()
        let inbox = try Inbox(fixture.keeper)
        try await fixture.keeper.put(".sharedcore/inbox/a/m", bytes)
        let id = try callID("a")
        #expect(try await code { try await inbox.state(of: id) } == expected)
    }
}

struct CallIDTests {
    @Test("C10: a call-id is its bytes: a composed and a decomposed é are two")
    func bytes() throws {
        let composed = try CallID.of("caf\u{E9}@example.org")
        let decomposed = try CallID.of("cafe\u{301}@example.org")
        #expect(composed.text == decomposed.text, "one text to String")
        #expect(composed != decomposed)
        #expect(Set([composed, decomposed]).count == 2)
        #expect(try composed == CallID.of("caf\u{E9}@example.org"))
        #expect(try composed.hashValue == CallID.of("caf\u{E9}@example.org").hashValue)
    }
}

/// A group in memory with participants that share an inbox.
struct InboxFixture {
    let clock = ManualClock()
    let space: MemorySpace
    /// Keeps the group while participants come and go.
    let keeper: MemoryGroup

    init(limits: Limits = Limits()) async throws {
        space = MemorySpace(clock: clock, limits: limits)
        keeper = try await space.open("group")
    }

    func participant(_ role: SessionRole = .executor) async throws -> MemoryGroup {
        try await space.open("group", as: SessionDescription(role: role, name: "test"))
    }
}

func callID(_ text: String) throws -> CallID {
    try #require(CallID(text))
}

func textMessage(_ id: String, _ text: String = "hello") throws -> InboxMessage {
    InboxMessage(callID: try callID(id), content: .text(from: "sip:a@x", to: "sip:b@x", text: text))
}
