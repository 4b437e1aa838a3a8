import CoreAPI
import CoreAPITesting
import InMemoryBackend
import Mailboxes
import TestSupport
import Testing

@Suite("Queue: the order that a waiting consumer keeps (M1)")
struct QueueOrderTests {
    @Test("M1: kept up by changes, it is the order that a fresh look gives", arguments: Seed.several(6))
    func keptUp(seed: Seed) async throws {
        var random = SplitMix64(seed)
        let fixture = QueueFixture()
        var groups: [MemoryGroup] = []
        for _ in 0..<3 { groups.append(try await fixture.open()) }
        let observer = try await fixture.mailbox()
        let watch = try await observer.watch(from: .snapshot)
        var order = QueueOrder(at: observer.keys)
        // The snapshot is taken when it is asked for: now, so that all that follows comes as changes.
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
