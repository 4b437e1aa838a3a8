import CoreAPI
import CoreAPITesting
import Mailboxes
import TestSupport
import Testing

/// The commit of another participant between a read and the commit that relies on it.
@Suite("Queue: between a look and its commit (M1, M6)")
struct InterleavingTests {
    @Test("M6: a message that another takes in between is not taken twice; the next one is")
    func taken() async throws {
        let fixture = QueueFixture()
        let other = try await fixture.mailbox()
        for number in 0..<3 { try await other.send(bytes(number)) }
        let stolen = Box<QueueDelivery?>(nil)
        let slow = try QueueMailbox(
            InterposedStore(
                await fixture.open(),
                once: { () async throws(SharedCoreError) in
                    let delivery = try await other.take()
                    stolen.update { $0 = delivery }
                }), path: "box")
        let delivery = try #require(try await slow.take())
        #expect(stolen.value?.bytes == bytes(0))
        #expect(delivery.bytes == bytes(1))
        #expect(try await other.count().taken == 2)
    }

    @Test("M6: a message that another takes and acknowledges in between is not delivered again")
    func acknowledged() async throws {
        let fixture = QueueFixture()
        let other = try await fixture.mailbox()
        try await other.send(bytes(0))
        let slow = try QueueMailbox(
            InterposedStore(
                await fixture.open(),
                once: { () async throws(SharedCoreError) in
                    if let delivery = try await other.take() { try await other.acknowledge(delivery) }
                }), path: "box")
        #expect(try await slow.take() == nil)
        #expect(try await other.store.list("box").entries.isEmpty)
    }

    @Test("M1: a message that another sends in between counts", arguments: [QueueOptions.Overflow.refuse, .dropOldest])
    func sent(overflow: QueueOptions.Overflow) async throws {
        let fixture = QueueFixture()
        let options = QueueOptions(capacity: 2, overflow: overflow)
        let other = try await fixture.mailbox(options)
        try await other.send(bytes(0))
        let slow = try QueueMailbox(
            InterposedStore(
                await fixture.open(),
                once: { () async throws(SharedCoreError) in
                    try await other.send(bytes(1))
                }), path: "box", options: options)
        switch overflow {
        case .refuse:
            #expect(try await code { try await slow.send(bytes(2)) } == .limitExceeded)
            #expect(try await other.drain() == [bytes(0), bytes(1)])
        case .dropOldest:
            #expect(try await slow.send(bytes(2)).dropped.count == 1)
            #expect(try await other.drain() == [bytes(1), bytes(2)])
        }
    }

    @Test("M1: the oldest that another takes in between is not dropped while a waiting one can be")
    func dropped() async throws {
        let fixture = QueueFixture()
        let options = QueueOptions(capacity: 2, overflow: .dropOldest)
        let other = try await fixture.mailbox(options)
        try await other.send(bytes(0))
        let second = try await other.send(bytes(1))
        let slow = try QueueMailbox(
            InterposedStore(
                await fixture.open(),
                once: { () async throws(SharedCoreError) in
                    _ = try await other.take()
                }), path: "box", options: options)
        #expect(try await slow.send(bytes(2)).dropped == [second.item])
    }
}
