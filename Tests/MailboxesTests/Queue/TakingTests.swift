import CoreAPI
import CoreAPITesting
import InMemoryBackend
import Mailboxes
import TestSupport
import Testing

@Suite("Queue: take and acknowledge (M6)")
struct TakingTests {
    @Test("M6: a message taken by one consumer is not given to another")
    func exclusive() async throws {
        let fixture = QueueFixture()
        let (first, second) = try await (fixture.mailbox(), fixture.mailbox())
        try await first.send(bytes(1))
        let delivery = try #require(try await first.take())
        #expect(try await second.take() == nil)
        #expect(try await second.take(delivery.item) == nil)
        #expect(try await first.take() == nil, "nor the same consumer's twice")
        let count = try await second.count()
        #expect((count.waiting, count.taken) == (0, 1))
    }

    @Test("M6: a take whose answer is lost is the taker's all the same")
    func lostAnswer() async throws {
        let fixture = QueueFixture()
        let store = UncertainStore(try await fixture.open())
        let mailbox = try QueueMailbox(store, path: "box")
        try await mailbox.send(bytes(1))
        let losses = Box(0)
        store.loseAnswers { _ in
            losses.update { count in
                count += 1
                return count == 1
            }
        }

        let delivery = try await mailbox.take()

        #expect(losses.value == 1)
        #expect(delivery?.bytes == bytes(1))
        let taken = try #require(delivery)
        guard case .acknowledged = try await mailbox.acknowledge(taken) else {
            Issue.record("the take stands")
            return
        }
    }

    @Test("M6: a take whose answer is lost, and whose caller does not wait, is given back when it is found")
    func lostAnswerOfCancelled() async throws {
        let fixture = QueueFixture()
        let store = UncertainStore(try await fixture.open())
        let mailbox = try QueueMailbox(store, path: "box")
        let other = try await fixture.mailbox()
        try await other.send(bytes(1))
        store.loseAnswers { _ in
            // Nor is there an answer to the read that follows.
            store.setSilent(true)
            return true
        }
        let take = Task { try await mailbox.take() }
        try await eventually("it looks for its take") { store.waiterCount > 0 && store.isSilent }
        take.cancel()

        await #expect(throws: SharedCoreError.self) {
            try await withTimeout(TestTimeout.usual, "it ends") { try await take.value }
        }
        store.loseAnswers(nil)
        store.setSilent(false)

        try await eventually("another has it") { try await other.take()?.bytes == bytes(1) }
    }

    @Test("M6: a message that cannot be given back at once is given back within a minute")
    func givenBackLater() async throws {
        let fixture = QueueFixture()
        let refusalCount = Box(0)
        let store = InterposedStore(
            try await fixture.open(),
            beforeCommit: { transaction throws(SharedCoreError) in
                let count = refusalCount.update { count -> Int in
                    count -= 1
                    return count
                }
                if count >= 0 { throw SharedCoreError(.unavailable, "The store refuses.", at: "test") }
                return transaction
            })
        let mailbox = try QueueMailbox(store, path: "box")
        let other = try await fixture.mailbox()
        try await other.send(bytes(1))
        let delivery = try #require(try await mailbox.take())
        refusalCount.update { $0 = 59 }
        let slept = Box(Duration.zero)

        await mailbox.giveBackPatiently(delivery) { time async throws in
            let early = try await other.take()
            #expect(early == nil)
            slept.update { $0 += time }
        }

        #expect(slept.value > .seconds(50) && slept.value < .seconds(60))
        #expect(try await other.take()?.bytes == bytes(1))
    }

    @Test("M6: a message is not given back any more when the session of its take is over")
    func givenBackAfterEnd() async throws {
        let fixture = QueueFixture()
        let group = try await fixture.open()
        let mailbox = try QueueMailbox(group, path: "box")
        try await mailbox.send(bytes(1))
        let delivery = try #require(try await mailbox.take())
        group.simulateKill()
        await mailbox.giveBackPatiently(delivery) { _ in Issue.record("it tries again") }
    }

    @Test("M6: acknowledged, it is never delivered again, and a second acknowledgement does no harm")
    func acknowledged() async throws {
        let fixture = QueueFixture()
        let (first, second) = try await (fixture.mailbox(), fixture.mailbox())
        try await first.send(bytes(1))
        let delivery = try #require(try await first.take())
        guard case .acknowledged(let revision) = try await first.acknowledge(delivery) else {
            Issue.record("the take stands")
            return
        }
        #expect(revision > delivery.epoch)
        #expect(try await first.acknowledge(delivery) == .superseded)
        await first.store.close()
        #expect(try await second.take() == nil)
        #expect(try await second.store.list("box").entries.isEmpty, "nothing is left of it")
    }

    @Test("M6: a consumer killed before its acknowledgement gives the message back at once, in its old place")
    func killedConsumer() async throws {
        let fixture = QueueFixture()
        let group = try await fixture.open()
        let doomed = try QueueMailbox(group, path: "box")
        let other = try await fixture.mailbox()
        try await other.send(bytes(1))
        try await other.send(bytes(2))
        let delivery = try #require(try await doomed.take())
        group.simulateKill()
        #expect(try await other.take()?.bytes == bytes(1))
        #expect(
            try await code {
                try await doomed.acknowledge(delivery)
            } == .sessionEnded)
    }

    @Test("M6: given back, it is in front of younger ones, and the old take cannot acknowledge it")
    func givenBack() async throws {
        let fixture = QueueFixture()
        let (first, second) = try await (fixture.mailbox(), fixture.mailbox())
        try await first.send(bytes(1))
        try await first.send(bytes(2))
        let delivery = try #require(try await first.take())
        try await first.giveBack(delivery)
        let again = try #require(try await second.take())
        #expect(again.bytes == bytes(1))
        #expect(again.epoch > delivery.epoch)
        #expect(try await first.acknowledge(delivery) == .superseded)
        try await first.giveBack(delivery)
        #expect(try await first.take()?.bytes == bytes(2), "giving back twice frees nothing of the other's")
    }

    @Test(
        "M6: consumers at once, some killed in between: each message is acknowledged once", arguments: Seed.several(4))
    func manyConsumers(seed: Seed) async throws {
        let fixture = QueueFixture()
        let sender = try await fixture.mailbox()
        for number in 0..<200 { try await sender.send(bytes(number)) }
        let acknowledged = Box<[[UInt8]]>([])
        _ = try await together(6) { consumer in
            var random = SeededRandom(seed: seed.rawValue &+ UInt64(consumer))
            var group = try await fixture.open()
            while true {
                let mailbox = try QueueMailbox(group, path: "box")
                guard let delivery = try await mailbox.take() else {
                    if try await mailbox.count().total == 0 { return }
                    await Task.yield()
                    continue
                }
                switch Int.random(in: 0..<8, using: &random) {
                case 0:
                    group.simulateKill()
                    group = try await fixture.open()
                case 1:
                    try await mailbox.giveBack(delivery)
                default:
                    if case .acknowledged = try await mailbox.acknowledge(delivery) {
                        acknowledged.update { $0.append(delivery.bytes) }
                    }
                }
            }
        }
        #expect(acknowledged.value.count == 200)
        #expect(Set(acknowledged.value) == Set((0..<200).map(bytes)))
    }

    @Test("M6: taking and acknowledging combine with conditions and writes of the caller's own, all or nothing")
    func combined() async throws {
        let mailbox = try await QueueFixture().mailbox()
        try await mailbox.send(bytes(1))
        let delivery = try #require(try await mailbox.take())
        var transaction = Transaction(guards: [.exists("permit")])
        try mailbox.addAcknowledgement(of: delivery, to: &transaction)
        transaction.put("done", [1])
        let attempt = transaction
        #expect(
            try await code {
                try await mailbox.store.commit(attempt)
            } == .guardFailed)
        #expect(try await mailbox.count().taken == 1)
        try await mailbox.store.put("permit", [])
        _ = try await mailbox.store.commit(attempt)
        #expect(try await mailbox.count().total == 0)
        #expect(try await mailbox.store.get("done")?.value == [1])
        #expect(
            try await code {
                try await mailbox.store.commit(attempt)
            } == .guardFailed)
    }

    @Test("a condition that the store adds is the caller's failure, not a reason to try again")
    func foreignGuard() async throws {
        let group = try await QueueFixture().open()
        let mailbox = try QueueMailbox(InterposedStore(group, requiring: .exists("epoch")), path: "box")
        #expect(try await code { try await mailbox.send([1]) } == .guardFailed)
        try await group.put("epoch", [])
        try await mailbox.send([1])
        let delivery = try #require(try await mailbox.take())
        try await group.delete("epoch")
        #expect(
            try await code {
                try await mailbox.acknowledge(delivery)
            } == .guardFailed)
    }
}
