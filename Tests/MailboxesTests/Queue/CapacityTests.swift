import CoreAPI
import CoreAPITesting
import Mailboxes
import TestSupport
import Testing

@Suite("Queue: capacity and overflow (M1)")
struct CapacityTests {
    @Test("M1: a full queue refuses, and takes again when one was acknowledged")
    func refuse() async throws {
        let mailbox = try await QueueFixture().mailbox(QueueOptions(capacity: 2))
        try await mailbox.send(bytes(1))
        try await mailbox.send(bytes(2))
        #expect(try await code { try await mailbox.send(bytes(3)) } == .limitExceeded)
        let delivery = try #require(try await mailbox.take())
        #expect(
            try await code { try await mailbox.send(bytes(3)) } == .limitExceeded,
            "a message in hand counts")
        try await mailbox.acknowledge(delivery)
        try await mailbox.send(bytes(4))
        #expect(try await mailbox.drain() == [bytes(2), bytes(4)])
    }

    @Test("M1: dropping the oldest keeps the youngest and reports each drop")
    func dropOldest() async throws {
        let mailbox = try await QueueFixture().mailbox(QueueOptions(capacity: 3, overflow: .dropOldest))
        var sent: [ItemName] = []
        var dropped: [ItemName] = []
        for number in 0..<10 {
            let receipt = try await mailbox.send(bytes(number))
            sent.append(receipt.item)
            dropped += receipt.dropped
        }
        #expect(dropped == Array(sent.prefix(7)))
        #expect(try await mailbox.drain() == [bytes(7), bytes(8), bytes(9)])
    }

    @Test("M1: a message in a consumer's hand is dropped only when no other can be, and its acknowledgement says so")
    func dropTaken() async throws {
        let mailbox = try await QueueFixture().mailbox(QueueOptions(capacity: 2, overflow: .dropOldest))
        try await mailbox.send(bytes(1))
        try await mailbox.send(bytes(2))
        let first = try #require(try await mailbox.take())
        #expect(try await mailbox.send(bytes(3)).dropped.count == 1)
        let third = try #require(try await mailbox.take())
        #expect(third.bytes == bytes(3))
        #expect(try await mailbox.send(bytes(4)).dropped == [first.item])
        #expect(try await mailbox.acknowledge(first) == .superseded)
        guard case .acknowledged = try await mailbox.acknowledge(third) else {
            Issue.record("the take of the message that was not dropped stands")
            return
        }
        #expect(try await mailbox.drain() == [bytes(4)])
    }

    @Test("M1: concurrent senders never exceed the capacity", arguments: [QueueOptions.Overflow.refuse, .dropOldest])
    func race(overflow: QueueOptions.Overflow) async throws {
        let fixture = QueueFixture()
        let options = QueueOptions(capacity: 5, overflow: overflow)
        let mailboxes = try await [fixture.mailbox(options), fixture.mailbox(options), fixture.mailbox(options)]
        let watch = try await mailboxes[0].watch(from: .now)
        let accepted = try await together(3) { sender in
            var accepted = 0
            for number in 0..<40 {
                do {
                    let receipt = try await mailboxes[sender].send([UInt8(sender), UInt8(number)])
                    accepted += 1 - receipt.dropped.count
                } catch let error as SharedCoreError where error.code == .limitExceeded {
                    continue
                }
            }
            return accepted
        }
        #expect(accepted.reduce(0, +) == 5)
        #expect(try await mailboxes[0].count().total == 5)

        // No commit in between had more either.
        var messages: Set<Key> = []
        let end = try await mailboxes[0].store.list(.all).revision
        while let event = try await watch.next() {
            guard case .changes(let set) = event else {
                Issue.record("all changes are delivered")
                break
            }
            for change in set.changes where change.key.text.hasSuffix("/m") {
                if change.new == nil { messages.remove(change.key) } else { messages.insert(change.key) }
            }
            #expect(messages.count <= 5)
            if event.revision >= end { break }
        }
    }

    @Test("M1: a capacity of zero is refused")
    func noCapacity() async throws {
        let group = try await QueueFixture().open()
        #expect(
            try await code {
                try QueueMailbox(group, path: "box", options: QueueOptions(capacity: 0))
            } == .invalidArgument)
    }
}
