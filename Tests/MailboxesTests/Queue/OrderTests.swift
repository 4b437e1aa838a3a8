import CoreAPI
import CoreAPITesting
import Mailboxes
import TestSupport
import Testing

@Suite("Queue: kept until acknowledged, in order (M1, M2)")
struct OrderTests {
    @Test("M1: messages come in the order in which they were sent")
    func firstInFirstOut() async throws {
        let mailbox = try await QueueFixture().mailbox()
        for number in 0..<300 { try await mailbox.send(bytes(number)) }
        #expect(try await mailbox.drain() == (0..<300).map(bytes))
    }

    @Test("M1: equal messages are messages of their own, and an empty one is one")
    func equalMessages() async throws {
        let mailbox = try await QueueFixture().mailbox()
        for _ in 0..<3 { try await mailbox.send([]) }
        #expect(try await mailbox.drain() == [[], [], []])
    }

    @Test("M1: of several senders at once, none is lost and each keeps its order")
    func severalSenders() async throws {
        let fixture = QueueFixture()
        let mailboxes = try await [fixture.mailbox(), fixture.mailbox(), fixture.mailbox(), fixture.mailbox()]
        _ = try await together(4) { sender in
            for number in 0..<250 { try await mailboxes[sender].send([UInt8(sender), UInt8(number)]) }
        }
        let received = try await mailboxes[0].drain()
        #expect(received.count == 1000)
        for sender in 0..<4 {
            #expect(received.filter { $0[0] == UInt8(sender) }.map { $0[1] } == (0..<250).map { UInt8($0) })
        }
    }

    @Test("M1: two queues at one path and of one session do not overwrite each other's messages")
    func twoMailboxesOfOneSession() async throws {
        let group = try await QueueFixture().open()
        let first = try QueueMailbox(group, path: "box")
        let second = try QueueMailbox(group, path: "box")
        try await first.send(bytes(1))
        try await second.send(bytes(2))
        try await first.send(bytes(3))
        #expect(try await first.drain() == [bytes(1), bytes(2), bytes(3)])
    }

    @Test("M2: the receipt names the commit that stored the message")
    func receipt() async throws {
        let mailbox = try await QueueFixture().mailbox()
        let receipt = try await mailbox.send(bytes(1))
        let delivery = try #require(try await mailbox.take())
        #expect(delivery.sentAt == receipt.revision)
        #expect(delivery.item == receipt.item)
        #expect(delivery.sender == mailbox.store.session.id)
        #expect(receipt.dropped.isEmpty)
    }

    @Test("M2: a message outlives its sender")
    func senderGone() async throws {
        let fixture = QueueFixture()
        let receiver = try await fixture.mailbox()
        let sender = try await fixture.mailbox()
        try await sender.send(bytes(1))
        await sender.store.close()
        #expect(try await receiver.drain() == [bytes(1)])
    }

    @Test("M2: a message is dropped when its declared lifetime is over, and not before")
    func lifetime() async throws {
        let fixture = QueueFixture()
        let mailbox = try await fixture.mailbox(QueueOptions(lifetime: .expiring(after: .seconds(10))))
        try await mailbox.send(bytes(1))
        fixture.clock.advance(by: .seconds(9))
        #expect(try await mailbox.count().waiting == 1)
        fixture.clock.advance(by: .seconds(2))
        #expect(try await mailbox.count().waiting == 0)
    }

    @Test("M1: a message larger than a value is refused and the queue is as it was")
    func tooLarge() async throws {
        let mailbox = try await QueueFixture(limits: Limits(valueByteCount: 64)).mailbox()
        #expect(
            try await code {
                try await mailbox.send([UInt8](repeating: 1, count: 65))
            } == .limitExceeded)
        #expect(try await mailbox.count().total == 0)
        try await mailbox.send([UInt8](repeating: 1, count: 64))
    }

    @Test("queues beside each other and under each other's path do not touch")
    func neighbours() async throws {
        let group = try await QueueFixture().open()
        let mailbox = try QueueMailbox(group, path: "box")
        let other = try QueueMailbox(group, path: "boxes")
        let below = try QueueMailbox(group, path: "box/below")
        for (number, queue) in [mailbox, other, below].enumerated() { try await queue.send(bytes(number)) }
        #expect(try await mailbox.drain() == [bytes(0)])
        #expect(try await other.drain() == [bytes(1)])
        #expect(try await below.drain() == [bytes(2)])
    }
}
