import CoreAPI
import CoreAPITesting
import InMemoryBackend
import Mailboxes
import SharedCoreTesting
import TestSupport
import Testing

@testable import Coordination

@Suite("Open messages: what one carries, and programs of several releases (C20, C21)")
struct OpenMessageTests {
    /// A message of an application's kind with everything that a message may have.
    static let poll: InboxMessage.Content = {
        var content = InboxMessage.Content.text(from: "sip:a@x", to: "sip:b@x", text: "Tea?")
        content.kind = InboxMessage.Kind("poll") ?? .other
        (content.account, content.conversation, content.contentType) = ("me", "kitchen", "application/json")
        (content.time, content.body, content.fields) = (.seconds(-1), [0, 255], ["choices": "2", "a": ""])
        return content
    }()

    @Test("C20: a value that breaks its rule is refused by name, the longest that is allowed is stored")
    func bounds() async throws {
        let inbox = try Inbox(await InboxFixture().keeper)
        let line = { (count: Int) in String(repeating: "x", count: count) }
        let many = { (count: Int) in Dictionary(uniqueKeysWithValues: (0..<count).map { ("f\($0)", line(1_024)) }) }
        let changes: [(String, Bool, (inout InboxMessage.Content) -> Void)] = [
            ("account", true, { $0.account = line(256) }), ("account", false, { $0.account = line(257) }),
            ("account", false, { $0.account = "a\nb" }), ("content type", true, { $0.contentType = line(256) }),
            ("content type", false, { $0.contentType = line(257) }),
            ("conversation", true, { $0.conversation = line(512) }),
            ("conversation", false, { $0.conversation = line(513) }), ("field", true, { $0.fields = many(32) }),
            ("field", false, { $0.fields = many(33) }), ("field", false, { $0.fields = ["": ""] }),
            ("field", false, { $0.fields = ["A": ""] }), ("field", true, { $0.fields = [line(64): "\n"] }),
            ("field", false, { $0.fields = ["a": line(1_025)] }),
            ("time", true, { $0.time = .milliseconds(-(1 << 53)) }),
            ("time", true, { $0.time = .milliseconds(1 << 53) }),
            ("time", false, { $0.time = .milliseconds((1 << 53) + 1) }),
            ("time", false, { $0.time = .seconds(Int64.min) }),
        ]
        for (number, (name, isAllowed, change)) in changes.enumerated() {
            var content = Self.poll
            change(&content)
            let message = InboxMessage(callID: try callID("\(number)"), content: content)
            do {
                try await inbox.store(message)
                #expect(isAllowed, "\(number): \(name)")
                #expect(try await inbox.state(of: message.id) == .stored(message))
            } catch {
                #expect(!isAllowed && error.code == .invalidArgument, "\(number): \(error)")
                #expect(error.message.contains(name), "\(error)")
                #expect(try await inbox.state(of: message.id) == .absent)
            }
        }
    }

    @Test(
        "C20: what the group has no room for is storageFull, and is stored later; what no value can hold is limitExceeded"
    )
    func fullGroup() async throws {
        let limits = Limits(valueByteCount: 2_000, storeByteCount: 8_000)
        let fixture = try await InboxFixture(limits: limits)
        let inbox = try Inbox(fixture.keeper)
        try await inbox.store(textMessage("first"))
        for number in 0..<5 {
            try await fixture.keeper.put(Key("content/\(number)"), [UInt8](repeating: 1, count: 1_500))
        }
        let message = try textMessage("call", String(repeating: "x", count: 1_000))
        #expect(try await code { try await inbox.store(message) } == .storageFull)
        let longer = try textMessage("first", String(repeating: "x", count: 1_000))
        #expect(try await code { try await inbox.update(longer) } == .storageFull)
        let large = try textMessage("large", String(repeating: "x", count: 2_000))
        #expect(try await code { try await inbox.store(large) } == .limitExceeded)
        try await fixture.keeper.delete("content/0")
        try await fixture.keeper.delete("content/1")
        #expect(try await inbox.store(message) == .stored)
        #expect(try await inbox.update(longer) == .changed)
    }

    @Test("C20: the text and what stands beside it have the bound of one value together")
    func size() async throws {
        let inbox = try Inbox(await InboxFixture(limits: Limits(valueByteCount: 256)).keeper)
        var content = InboxMessage.Content.text(from: "", to: "", text: String(repeating: "x", count: 150))
        content.body = [UInt8](repeating: 1, count: 150)
        let message = InboxMessage(callID: try callID("big"), content: content)
        #expect(try await code { try await inbox.store(message) } == .limitExceeded)
        #expect(try await inbox.state(of: message.id) == .absent)
        content.body = []
        try await inbox.store(InboxMessage(callID: message.callID, content: content))
    }

    @Test("C20: a kind has 1 to 64 of a-z, 0-9, “-” and “.”")
    func kinds() {
        #expect(InboxMessage.Kind("poll.2-x")?.name == "poll.2-x")
        #expect(InboxMessage.Kind("text") == .text)
        for name in ["", "Poll", "a b", "ä", String(repeating: "a", count: 65)] {
            #expect(InboxMessage.Kind(name) == nil)
        }
    }

    @Test("C20: an Executor of the release before shows what a new Main has stored, and its acknowledgement counts")
    func releaseBefore() async throws {
        let world = World()
        let main = try await world.main()
        try await main.participant.start()
        let group = try await world.space.open("group", as: SessionDescription(role: .executor, name: "before"))
        let former = try FormerInbox(group)
        var invitation = InboxMessage.Content.invitation(from: "sip:a@x", subject: "Lunch", localAddress: "sip:b@x")
        invitation.time = .seconds(1)
        var large = InboxMessage.Content.tooLarge(from: "sip:a@x", to: "sip:b@x")
        large.time = .seconds(1)
        let messages: [(InboxMessage.Content, FormerInbox.Content)] = [
            (Self.poll, .text(from: "sip:a@x", to: "sip:b@x", text: "Tea?")),
            (invitation, .invitation(from: "sip:a@x", subject: "Lunch", localAddress: "sip:b@x")),
            (large, .tooLarge(from: "sip:a@x", to: "sip:b@x")),
        ]
        let observer = try Inbox(await world.observer())
        for (number, (content, shown)) in messages.enumerated() {
            let id = try callID("call-\(number)")
            let wait = Task { try await former.wait(for: id) }
            world.server.receive(InboxMessage(callID: id, content: content))
            let (found, delivery) = try await wait.value
            #expect(found == shown)
            #expect(try await former.acknowledge(delivery, of: id))
            #expect(try await observer.state(of: id) == .acknowledged)
        }
        #expect(try await observer.messages(limit: 10).messages.isEmpty)
    }

    @Test("C20: this release shows what a Main of the release before has stored")
    func mainOfBefore() async throws {
        let fixture = try await InboxFixture()
        let former = try FormerInbox(fixture.keeper)
        let message = try textMessage("call-1")
        _ = try await former.mailbox.send(
            [1, 6] + Array("call-1".utf8) + [1, 7] + Array("sip:a@x".utf8) + [7] + Array("sip:b@x".utf8) + [5]
                + Array("hello".utf8), as: ItemName("call-1"))
        #expect(try await Inbox(fixture.keeper).state(of: message.callID) == .stored(message))
    }

    @Test("C20: a kind that breaks its rule is shown as another one, and does not act on what shows it")
    func hostileKind() async throws {
        let fixture = try await InboxFixture()
        for kind in ["", "a\nb", "\u{1B}[31m", String(repeating: "a", count: 65)] {
            var message = Transaction()
            message.put(
                ".sharedcore/inbox/call-1/m", [1, 6] + Array("call-1".utf8) + [1, 0, 0, 2] + Array("hi".utf8))
            message.put(".sharedcore/inbox/call-1/d", [1, UInt8(kind.utf8.count)] + Array(kind.utf8))
            _ = try await fixture.keeper.commit(message)
            let content = InboxMessage.Content(kind: .other, text: "hi")
            let found = try await Inbox(fixture.keeper).messages(limit: 9).messages.map(\.message.content)
            #expect(found == [content], "\(kind.debugDescription)")
        }
    }

    @Test("C20: a plain message has the bytes that it had in the release before, and nothing beside them")
    func plainBytes() async throws {
        let fixture = try await InboxFixture()
        try await Inbox(fixture.keeper).store(try textMessage("call-1"))
        let entries = try await fixture.keeper.list(".sharedcore/inbox").entries
        #expect(entries.map(\.key.text) == [".sharedcore/inbox/call-1/m"])
        #expect(
            entries.first?.value == [1, 6] + Array("call-1".utf8) + [1, 7] + Array("sip:a@x".utf8) + [7]
                + Array("sip:b@x".utf8) + [5] + Array("hello".utf8))
    }

    @Test("C20: details that an acknowledgement of the release before has left end with the lifetime of their message")
    func leftDetails() async throws {
        let fixture = try await InboxFixture()
        let inbox = try Inbox(fixture.keeper)
        let former = try FormerInbox(fixture.keeper)
        let id = try callID("call-1")
        try await inbox.store(InboxMessage(callID: id, content: Self.poll))
        let (_, delivery) = try await former.wait(for: id)
        #expect(try await former.acknowledge(delivery, of: id))
        #expect(try await inbox.state(of: id) == .acknowledged)
        fixture.clock.advance(by: .seconds(301))
        #expect(try await fixture.keeper.list(".sharedcore/inbox").entries.isEmpty)
    }

    @Test("C22: an acknowledgement of the release before removes no update that it has not shown")
    func updatedForBefore() async throws {
        let fixture = try await InboxFixture()
        let inbox = try Inbox(fixture.keeper)
        let former = try FormerInbox(await fixture.participant())
        let id = try callID("call-1")
        try await inbox.store(InboxMessage(callID: id, content: Self.poll))
        let (_, delivery) = try await former.wait(for: id)
        #expect(try await inbox.update(try textMessage("call-1", "new")) == .changedInHand)
        #expect(try await !former.acknowledge(delivery, of: id))
        let (shown, again) = try await former.wait(for: id)
        #expect(shown == .text(from: "sip:a@x", to: "sip:b@x", text: "new"))
        #expect(try await former.acknowledge(again, of: id))
        #expect(try await inbox.update(try textMessage("call-1", "newer")) == .over)
    }

    @Test(
        "C22: an update has its own details alone, begins the lifetime anew and keeps its place; one of nothing withdraws"
    )
    func updates() async throws {
        let fixture = try await InboxFixture()
        let inbox = try Inbox(fixture.keeper)
        let message = InboxMessage(callID: try callID("call-1"), content: Self.poll)
        try await inbox.store(message)
        try await inbox.store(try textMessage("call-2"))
        let place = try await inbox.messages(limit: 1).messages.first?.storedAt
        fixture.clock.advance(by: .seconds(200))
        var content = InboxMessage.Content.text(from: "ann", to: "bob", text: "edited")
        #expect(try await inbox.update(InboxMessage(id: message.id, content: content)) == .changed)
        #expect(try await inbox.state(of: message.id) == .stored(InboxMessage(id: message.id, content: content)))
        #expect(try await inbox.messages(limit: 1).messages.first?.storedAt == place)
        #expect(
            try await fixture.keeper.list(".sharedcore/inbox/call-1").entries.map(\.key.text) == [
                ".sharedcore/inbox/call-1/m"
            ])
        content.account = String(repeating: "x", count: 300)
        #expect(
            try await code { try await inbox.update(InboxMessage(id: message.id, content: content)) }
                == .invalidArgument)
        fixture.clock.advance(by: .seconds(200))
        #expect(try await inbox.state(of: try callID("call-2")) == .absent)
        #expect(try await inbox.update(InboxMessage(id: message.id, content: .nothingToShow)) == .changed)
        #expect(try await inbox.state(of: message.id) == .nothingToShow)
        #expect(
            try await fixture.keeper.list(".sharedcore/inbox").entries.map(\.key.text) == [".sharedcore/inbox/call-1/a"]
        )
        fixture.clock.advance(by: .seconds(301))
        #expect(try await inbox.update(message) == .absent)
        #expect(try await inbox.withdraw(message.id) == .absent)
    }

    @Test("C22: what a participant takes between the look of a change and its commit is taken out of its hand too")
    func takenMeanwhile() async throws {
        let fixture = try await InboxFixture()
        let message = try textMessage("call-1")
        try await Inbox(fixture.keeper).store(message)
        let other = try Inbox(await fixture.participant())
        let taken = Box<TakenMessage?>(nil)
        let changing = try Inbox(
            InterposedStore(
                fixture.keeper,
                once: { () async throws(SharedCoreError) in
                    guard case .taken(let delivery) = try await other.take(message.callID) else { return }
                    taken.update { $0 = delivery }
                }))
        #expect(try await changing.withdraw(message.id) == .changedInHand)
        #expect(try await other.acknowledge(#require(taken.value)) == .superseded)
    }

    @Test("C22: what is acknowledged between the look of a change and its commit stays acknowledged")
    func acknowledgedMeanwhile() async throws {
        let fixture = try await InboxFixture()
        let other = try Inbox(await fixture.participant())
        for (number, isUpdated) in [true, false].enumerated() {
            let message = try textMessage("call-\(number)")
            try await Inbox(fixture.keeper).store(message)
            let changing = try Inbox(
                InterposedStore(
                    fixture.keeper,
                    once: { () async throws(SharedCoreError) in
                        guard case .taken(let delivery) = try await other.take(message.callID) else { return }
                        try await other.acknowledge(delivery)
                    }))
            let change = try await isUpdated ? changing.update(message) : changing.withdraw(message.id)
            #expect(change == .over)
            #expect(try await other.state(of: message.id) == .acknowledged)
        }
    }

    @Test("C22: however a change and an acknowledgement meet, one of them holds, and what was shown is what was there")
    func races() async throws {
        let fixture = try await InboxFixture()
        let core = try Inbox(fixture.keeper)
        let other = try Inbox(await fixture.participant())
        for number in 1...100 {
            let message = try textMessage("call-\(number)", "old")
            try await core.store(message)
            async let change =
                number.isMultiple(of: 2)
                ? core.withdraw(message.id) : core.update(try textMessage("call-\(number)", "new"))
            var shown: String?
            if case .taken(let taken) = try await other.take(message.callID) {
                await Task.yield()
                if try await other.acknowledge(taken) != .superseded { shown = taken.message.content.text }
            }
            let result = try await change
            let now = try await core.state(of: message.id)
            switch result {
            case .over: #expect(shown == "old" && now == .acknowledged)
            case .changed, .changedInHand:
                if number.isMultiple(of: 2) {
                    #expect(shown == nil && now == .nothingToShow)
                } else if shown == nil {
                    #expect(now == .stored(try textMessage("call-\(number)", "new")))
                } else {
                    #expect(shown == "new" && now == .acknowledged)
                }
            case .absent: Issue.record("\(message.id) was stored")
            }
        }
    }

    @Test("C4, C22: a superseded core changes nothing")
    func superseded() async throws {
        let fixture = try await InboxFixture()
        let message = try textMessage("call-1")
        let inbox = try Inbox(fixture.keeper)
        try await inbox.store(message)
        let epoch = try await fixture.keeper.put(OwnershipKey.owner, []).revision
        try await fixture.keeper.delete(OwnershipKey.owner)
        let context = CoreContext(
            store: EpochGuardedStore(inner: fixture.keeper, epoch: epoch, fenced: {}), epoch: epoch, role: .main,
            acceptMessage: { _ throws(SharedCoreError) in .duplicate }, reportProblem: { _ in })
        #expect(try await code { try await context.update(try textMessage("call-1", "new")) } == .guardFailed)
        #expect(try await code { try await context.withdraw(message.id) } == .guardFailed)
        #expect(try await inbox.state(of: message.id) == .stored(message))
    }

    @Test("C21: identities match when their call-ids are equal, and their sequences are or one has none")
    func identities() throws {
        let (one, other) = (try callID("call-1"), try callID("call-2"))
        let (first, second) = (try #require(MessageID(one, sequence: "1")), try #require(MessageID(one, sequence: "2")))
        #expect(first.matches(first) && first.matches(MessageID(one)) && MessageID(one).matches(first))
        #expect(!first.matches(second) && !first.matches(MessageID(other)))
        #expect(first != second && first != MessageID(one))
        for sequence in ["", "a/b", "2 MESSAGE", "ä", String(repeating: "1", count: 65)] {
            #expect(MessageID(one, sequence: sequence) == nil)
        }
    }

    @Test("C21: messages of one call-id with different sequences are two, the oldest answers a wait without a sequence")
    func sequences() async throws {
        let fixture = try await InboxFixture()
        let inbox = try Inbox(fixture.keeper)
        let id = try callID("a/b")
        // Also names that the store uses.
        let sequences = ["m", "a", "9", "d"]
        for sequence in sequences {
            let identity = try #require(MessageID(id, sequence: sequence))
            let content = InboxMessage.Content.text(from: "", to: "", text: sequence)
            #expect(try await inbox.store(InboxMessage(id: identity, content: content)) == .stored)
            #expect(try await inbox.store(InboxMessage(id: identity, content: content)) == .duplicate)
        }
        #expect(try await inbox.messages(limit: 9).messages.map(\.message.id.sequence) == sequences)
        // A message that is taken does not keep others of the same call-id from being taken.
        guard case .taken(let first) = try await inbox.take(id), case .taken(let second) = try await inbox.take(id)
        else {
            Issue.record("two of four can be taken")
            return
        }
        #expect([first, second].map(\.message.content.text) == ["m", "a"])
        try await inbox.giveBack(first)
        try await inbox.giveBack(second)
        var shown: [String] = []
        while case .taken(let taken) = try await inbox.take(id) {
            shown.append(taken.message.content.text)
            try await inbox.acknowledge(taken)
        }
        #expect(shown == sequences)
        #expect(try await inbox.state(of: id) == .acknowledged)
        #expect(try await inbox.state(of: #require(MessageID(id, sequence: "9"))) == .acknowledged)
        #expect(try await inbox.state(of: #require(MessageID(id, sequence: "8"))) == .absent)
    }
}

/// An Executor of the previous release, with its former inbox: it knows one closed record and no details.
struct FormerInbox {
    enum Content: Hashable, Sendable {
        case text(from: String, to: String, text: String)
        case invitation(from: String, subject: String, localAddress: String)
        case tooLarge(from: String, to: String)
    }

    let mailbox: QueueMailbox

    init(_ store: any SharedStore) throws(SharedCoreError) {
        mailbox = try QueueMailbox(
            store, path: ".sharedcore/inbox",
            options: QueueOptions(lifetime: .expiring(after: .seconds(300)), markLifetime: .seconds(300)))
    }

    /// Waits until the message of a call-id can be taken.
    func wait(for callID: CallID) async throws -> (content: Content, delivery: QueueDelivery) {
        let found = Box<QueueDelivery?>(nil)
        try await eventually("“\(callID)” can be taken") {
            let delivery = try await mailbox.take(ItemName(callID.text))
            found.update { $0 = delivery }
            return delivery != nil
        }
        let delivery = try #require(found.value)
        return (try content(of: delivery.bytes, for: callID), delivery)
    }

    func acknowledge(_ delivery: QueueDelivery, of callID: CallID) async throws(SharedCoreError) -> Bool {
        var note = ByteWriter()
        note.byte(1)
        note.text(callID.text)
        note.byte(1)
        return try await mailbox.acknowledge(delivery, leaving: note.bytes) != .superseded
    }

    private func content(of bytes: [UInt8], for callID: CallID) throws(ByteCodingError) -> Content {
        guard bytes.first == 1 else { throw .malformed }
        var reader = ByteReader(bytes.dropFirst())
        guard CallID(try reader.text()) == callID else { throw .malformed }
        let value: Content
        switch try reader.byte() {
        case 1: value = .text(from: try reader.text(), to: try reader.text(), text: try reader.text())
        case 3:
            value = .invitation(
                from: try reader.text(), subject: try reader.text(), localAddress: try reader.text())
        case 4: value = .tooLarge(from: try reader.text(), to: try reader.text())
        default: throw .malformed
        }
        try reader.finish()
        return value
    }
}
