import CoreAPI
import CoreAPITesting
import Testing

@testable import Mailboxes

@Suite("The delivery that waits for one observer (N3, N6)")
struct DeliverySlotTests {
    private func delivery(_ state: UInt64, count: UInt64 = 1) -> NotificationDelivery {
        NotificationDelivery(
            name: "news", state: state, count: count, revision: Revision(rawValue: state),
            origin: SessionID(rawValue: 100 + state))
    }

    @Test("N3: what waits is one delivery: the numbers add up, the rest is the last one's")
    func merges() async throws {
        let slot = DeliverySlot()
        for state in 1...5 as ClosedRange<UInt64> { slot.add(delivery(state, count: state)) }
        #expect(try await slot.next() == delivery(5, count: 15))
        slot.add(delivery(6))
        #expect(try await slot.next() == delivery(6))
    }

    @Test("N3: a delivery wakes a waiting consumer")
    func wakes() async throws {
        let slot = DeliverySlot()
        let waiting = Task { try await slot.next() }
        slot.add(delivery(1))
        let found = try await withTimeout(TestTimeout.usual, "the delivery") { try await waiting.value }
        #expect(found == delivery(1))
    }

    @Test("N6: suspend and resume nest; the last resume gives what was pending, once")
    func suspends() async throws {
        let slot = DeliverySlot()
        #expect(!slot.resume())
        slot.add(delivery(1))
        slot.suspend()
        slot.suspend()
        slot.add(delivery(2))
        #expect(slot.resume())
        let taken = Box<[NotificationDelivery]>([])
        let taking = Task {
            while let next = try await slot.next() { taken.update { $0.append(next) } }
        }
        slot.add(delivery(3))
        // The task waits now. Otherwise the end of the sequence could come after a delivery.
        #expect(taken.value.isEmpty)
        #expect(slot.resume())
        try await eventually("the pending one is delivered") { !taken.value.isEmpty }
        slot.end()
        try await withTimeout(TestTimeout.usual, "the end") { try await taking.value }
        #expect(taken.value == [delivery(3, count: 3)])
        #expect(!slot.resume())
    }

    @Test("N6: cancelling drops what waits, also while suspended, and nothing comes any more")
    func cancels() async throws {
        for isSuspended in [false, true] {
            let slot = DeliverySlot()
            if isSuspended { slot.suspend() }
            slot.add(delivery(1))
            slot.cancel()
            slot.cancel()
            slot.add(delivery(2))
            let next = try await withTimeout(TestTimeout.usual, "the end") { try await slot.next() }
            #expect(next == nil)
        }
    }

    @Test("N6: cancelling ends the wait of one that waits")
    func cancelWakes() async throws {
        let slot = DeliverySlot()
        let waiting = Task { try await slot.next() }
        slot.cancel()
        #expect(try await withTimeout(TestTimeout.usual, "the end") { try await waiting.value } == nil)
    }

    @Test("A delivery that waits at the end can still be taken; then comes the error, once")
    func ends() async throws {
        let slot = DeliverySlot()
        slot.add(delivery(1))
        slot.end(SharedCoreError(.sessionEnded, "It is over.", at: "news"))
        slot.end()
        slot.add(delivery(2))
        #expect(try await slot.next() == delivery(1))
        let error = await #expect(throws: SharedCoreError.self) { try await slot.next() }
        #expect(error?.code == .sessionEnded)
        #expect(try await slot.next() == nil)
    }

    @Test("A cancelled observer gives nothing, also no error of the group's end")
    func cancelledBeforeError() async throws {
        let slot = DeliverySlot()
        slot.end(SharedCoreError(.sessionEnded, "It is over.", at: "news"))
        slot.cancel()
        #expect(try await slot.next() == nil)
    }
}
