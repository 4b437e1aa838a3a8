import CoreAPI
import CoreAPITesting
import InMemoryBackend
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

@Suite("Queue: the order that a waiting consumer keeps (M1)")
struct QueueOrderTests {
    @Test("M1: kept up by changes, it is the order that a fresh look gives", arguments: Seed.several(6))
    func keptUp(seed: Seed) async throws {
        var random = SeededRandom(seed)
        let fixture = QueueFixture()
        var groups: [MemoryGroup] = []
        for _ in 0..<3 { groups.append(try await fixture.open()) }
        let observer = try await fixture.mailbox()
        let watch = try await observer.watch(from: .snapshot)
        var order = QueueOrder(at: observer.keys)
        // The snapshot is taken at this call, so that everything after it comes as changes.
        order.apply(try #require(try await watch.next()))
        var inHand: [QueueDelivery] = []
        for _ in 0..<300 {
            let index = Int.random(in: 0..<3, using: &random)
            let mailbox = try QueueMailbox(groups[index], path: "box")
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<4: try await mailbox.send([])
            case 4..<7: if let delivery = try await mailbox.take() { inHand.append(delivery) }
            case 7: if let delivery = inHand.randomElement(using: &random) { try await mailbox.giveBack(delivery) }
            case 8: if let delivery = inHand.randomElement(using: &random) { try await mailbox.acknowledge(delivery) }
            default:
                groups[index].simulateKill()
                groups[index] = try await fixture.open()
            }
        }
        let end = try await observer.store.put("box/end", []).revision
        while let event = try await watch.next() {
            order.apply(event)
            if event.revision >= end { break }
        }
        var kept: [ItemName] = []
        while let item = order.first {
            kept.append(item)
            order.dropFirst()
        }
        let entries = try await observer.store.list(observer.keys.prefix).entries
        #expect(kept == QueueContents(of: entries, at: observer.keys).waiting.map(\.item))
        #expect(kept.first == observer.keys.oldestWaiting(in: entries)?.item)
        #expect(!kept.isEmpty)
    }
}
