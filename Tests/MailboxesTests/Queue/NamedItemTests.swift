import CoreAPI
import CoreAPITesting
import Mailboxes
import TestSupport
import Testing

@Suite("Queue: named items, stored once (C10)")
struct NamedItemTests {
    private static let remembering = QueueOptions(
        lifetime: .expiring(after: .seconds(300)), markLifetime: .seconds(300))

    @Test("C10: a duplicate is stored once while the first is there, in hand, and after its acknowledgement")
    func duplicates() async throws {
        let mailbox = try await QueueFixture().mailbox(Self.remembering)
        let name = ItemName("call/1")
        guard case .sent(let receipt) = try await mailbox.send(bytes(1), as: name) else {
            Issue.record("the first is stored")
            return
        }
        #expect(receipt.item == name)
        #expect(try await mailbox.send(bytes(2), as: name) == .duplicate)
        let delivery = try #require(try await mailbox.take(name))
        #expect(delivery.bytes == bytes(1))
        #expect(try await mailbox.send(bytes(2), as: name) == .duplicate)
        try await mailbox.acknowledge(delivery, leaving: [7])
        #expect(try await mailbox.send(bytes(2), as: name) == .duplicate)
        #expect(try await mailbox.item(name).mark?.value == [7])
    }

    @Test("C10: the name is remembered for its lifetime and not longer")
    func expiry() async throws {
        let fixture = QueueFixture()
        let mailbox = try await fixture.mailbox(Self.remembering)
        let name = ItemName("call")
        _ = try await mailbox.send(bytes(1), as: name)
        try await mailbox.acknowledge(try #require(try await mailbox.take(name)))
        fixture.clock.advance(by: .seconds(299))
        #expect(try await mailbox.send(bytes(2), as: name) == .duplicate)
        fixture.clock.advance(by: .seconds(2))
        #expect(try await mailbox.send(bytes(3), as: name) != .duplicate)
    }

    @Test("C10: a take of a message that expired in hand does not hold a new one of the same name")
    func expiredInHand() async throws {
        let fixture = QueueFixture()
        let (slow, other) = try await (fixture.mailbox(Self.remembering), fixture.mailbox(Self.remembering))
        let name = ItemName("call")
        _ = try await slow.send(bytes(1), as: name)
        let old = try #require(try await slow.take(name))
        fixture.clock.advance(by: .seconds(301))
        _ = try await other.send(bytes(2), as: name)
        let new = try #require(try await other.take(name))
        #expect(new.bytes == bytes(2))
        #expect(try await slow.acknowledge(old) == .superseded)
        guard case .acknowledged = try await other.acknowledge(new) else {
            Issue.record("the new take stands")
            return
        }
    }

    @Test("C10: a message that expired in hand can still be acknowledged, and is remembered")
    func acknowledgedLate() async throws {
        let fixture = QueueFixture()
        let mailbox = try await fixture.mailbox(Self.remembering)
        let name = ItemName("call")
        _ = try await mailbox.send(bytes(1), as: name)
        let delivery = try #require(try await mailbox.take(name))
        fixture.clock.advance(by: .seconds(301))
        guard case .acknowledged = try await mailbox.acknowledge(delivery) else {
            Issue.record("the take stands")
            return
        }
        #expect(try await mailbox.send(bytes(2), as: name) == .duplicate)
    }

    @Test("C10: if a hundred senders store the same name at once, one succeeds")
    func race() async throws {
        let fixture = QueueFixture()
        var mailboxes: [QueueMailbox] = []
        for _ in 0..<100 { mailboxes.append(try await fixture.mailbox(Self.remembering)) }
        let results = try await together(100) { [mailboxes] number in
            try await mailboxes[number].send(bytes(number), as: ItemName("call"))
        }
        #expect(results.filter { $0 != .duplicate }.count == 1)
        #expect(try await mailboxes[0].count().total == 1)
    }

    @Test("C10: a full queue knows its duplicates")
    func duplicateInFullQueue() async throws {
        let mailbox = try await QueueFixture().mailbox(QueueOptions(capacity: 1))
        _ = try await mailbox.send(bytes(1), as: ItemName("call"))
        #expect(try await mailbox.send(bytes(2), as: ItemName("call")) == .duplicate)
    }

    @Test("C11: a mark without a message makes what follows a duplicate")
    func mark() async throws {
        let mailbox = try await QueueFixture().mailbox(Self.remembering)
        var transaction = Transaction()
        try mailbox.addMark([1], for: ItemName("call"), to: &transaction)
        _ = try await mailbox.store.commit(transaction)
        #expect(try await mailbox.send(bytes(1), as: ItemName("call")) == .duplicate)
        #expect(try await mailbox.take(ItemName("call")) == nil)
    }
}
