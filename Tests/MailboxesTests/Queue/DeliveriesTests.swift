import CoreAPI
import CoreAPITesting
import InMemoryBackend
import Mailboxes
import TestSupport
import Testing

@Suite("Queue: waiting for messages (M3, M6)")
struct DeliveriesTests {
    @Test("M3: a listener gets the waiting messages first, then new ones")
    func waitsAndComes() async throws {
        let fixture = QueueFixture()
        let (sender, receiver) = try await (fixture.mailbox(), fixture.mailbox())
        try await sender.send(bytes(0))
        let deliveries = try await receiver.deliveries()
        let received = Box<[[UInt8]]>([])
        let task = Task {
            for try await delivery in deliveries {
                received.update { $0.append(delivery.bytes) }
                try await receiver.acknowledge(delivery)
            }
        }
        for number in 1..<50 { try await sender.send(bytes(number)) }
        try await eventually("all are delivered") { received.value.count == 50 }
        #expect(received.value == (0..<50).map(bytes))
        deliveries.cancel()
        try await withTimeout(TestTimeout.usual, "the sequence ends") { try await task.value }
    }

    @Test("M6: a message that a killed consumer had taken wakes a waiting consumer")
    func wokenByDeath() async throws {
        let fixture = QueueFixture()
        let doomed = try await fixture.open()
        let receiver = try await fixture.mailbox()
        try await receiver.send(bytes(1))
        _ = try #require(try await QueueMailbox(doomed, path: "box").take())
        let deliveries = try await receiver.deliveries()
        let received = Box<[UInt8]?>(nil)
        let task = Task {
            var iterator = deliveries.makeAsyncIterator()
            let delivery = try await iterator.next()
            received.update { $0 = delivery?.bytes }
        }
        try await eventually("somebody has it in hand") { try await receiver.count().taken == 1 }
        #expect(received.value == nil)
        doomed.simulateKill()
        try await eventually("the message is delivered again") { received.value == bytes(1) }
        try await task.value
    }

    @Test("M3: a message whose take has failed is delivered by the next call")
    func failedTake() async throws {
        let fixture = QueueFixture()
        let sender = try await fixture.mailbox()
        try await sender.send(bytes(1))
        let failing = InterposedStore(try await fixture.open()) { () throws(SharedCoreError) in
            throw SharedCoreError(.unavailable, "No answer.", at: "test")
        }
        let deliveries = try await QueueMailbox(failing, path: "box").deliveries()
        let received = try await withTimeout(TestTimeout.usual, "the message is delivered") {
            var iterator = deliveries.makeAsyncIterator()
            var code: SharedCoreError.Code?
            do throws(SharedCoreError) {
                _ = try await iterator.next()
            } catch {
                code = error.code
            }
            return (code, try await iterator.next()?.bytes)
        }
        #expect(received.0 == .unavailable && received.1 == bytes(1))
    }

    @Test("M6: two waiting consumers share the messages")
    func shared() async throws {
        let fixture = QueueFixture()
        let sender = try await fixture.mailbox()
        let received = Box<[[UInt8]]>([])
        var tasks: [Task<Void, any Error>] = []
        var sequences: [QueueDeliveries] = []
        for _ in 0..<2 {
            let receiver = try await fixture.mailbox()
            let deliveries = try await receiver.deliveries()
            sequences.append(deliveries)
            tasks.append(
                Task {
                    for try await delivery in deliveries {
                        guard case .acknowledged = try await receiver.acknowledge(delivery) else { continue }
                        received.update { $0.append(delivery.bytes) }
                    }
                })
        }
        for number in 0..<100 { try await sender.send(bytes(number)) }
        try await eventually("all are acknowledged") { received.value.count >= 100 }
        #expect(Set(received.value) == Set((0..<100).map(bytes)))
        #expect(received.value.count == 100)
        for sequence in sequences { sequence.cancel() }
        for task in tasks { try await task.value }
    }

    @Test("M3: closing the store ends the sequence")
    func closed() async throws {
        let receiver = try await QueueFixture().mailbox()
        let deliveries = try await receiver.deliveries()
        let task = Task {
            var count = 0
            for try await _ in deliveries { count += 1 }
            return count
        }
        await receiver.store.close()
        // A read after the close may be refused instead.
        let result = try await withTimeout(TestTimeout.usual, "the sequence ends") { await task.result }
        switch result {
        case .success(let count): #expect(count == 0)
        case .failure(let error): #expect((error as? SharedCoreError)?.code == .closed)
        }
    }
}
