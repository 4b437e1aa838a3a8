import CoreAPI
import CoreAPITesting
import InMemoryBackend
internal import TestSupport
import Testing
import Wormholes

@Suite("Listeners that were too slow: every send and clearing is heard or counted (M3)")
struct PassedOverTests {
    private static let box = MailboxID<Int>("box")
    private static let queue = QueueID<Int>("queue")

    /// The bytes of history: so few that a listener that does not read is passed over.
    private static let brief = 2 << 10

    /// The events that the listener hears up to a message.
    private func events(
        of events: MailboxEvents<Int>, upTo last: Int
    ) async throws -> [MailboxEvent<Int>] {
        try await withTimeout(TestTimeout.usual, "the message \(last)") {
            var iterator = events.makeAsyncIterator()
            var heard: [MailboxEvent<Int>] = []
            while let event = try await iterator.next() {
                heard.append(event)
                if case .message(let message) = event, message.value == last { break }
            }
            return heard
        }
    }

    @Test("A listener that missed N messages gets the last one, and the number N - 1")
    func exactly() async throws {
        let fixture = WormholeFixture(historyByteCount: Self.brief)
        let (sender, listener) = try await (fixture.wormhole(), fixture.wormhole())
        try await sender.send(-1, to: Self.box)
        let events = try await listener.listen(to: Self.box)
        for number in 1...500 { try await sender.send(number, to: Self.box) }
        let heard = try await self.events(of: events, upTo: 500)
        #expect(heard.count == 2)
        #expect(heard.first == .lagged(499))
    }

    @Test("A slow listener gets the last clearing that it missed, with the messages that were sent after it")
    func clearing() async throws {
        let fixture = WormholeFixture(historyByteCount: Self.brief)
        let (sender, listener) = try await (fixture.wormhole(), fixture.wormhole())
        let events = try await listener.listen(to: Self.box)
        for number in 1...300 { try await sender.send(number, to: Self.box) }
        try await sender.clear(Self.box)
        for number in 301...600 { try await sender.send(number, to: Self.box) }
        let heard = try await self.events(of: events, upTo: 600)
        // 600 sends and a clearing, of which the clearing and the last send can still be seen.
        #expect(heard.count == 3)
        #expect(heard.first == .lagged(599))
        guard case .cleared = heard[1] else {
            Issue.record("the clearing: \(heard)")
            return
        }
    }

    @Test("A listener of a queue that was consumed meanwhile is told how many it missed")
    func consumed() async throws {
        let fixture = WormholeFixture(historyByteCount: Self.brief)
        let (sender, listener) = try await (fixture.wormhole(), fixture.wormhole())
        let events = try await listener.listen(to: Self.queue)
        for number in 1...300 {
            try await sender.send(number, to: Self.queue)
            if number % 3 != 0 { try await sender.take(from: Self.queue)?.acknowledge() }
        }
        let heard = try await self.events(of: events, upTo: 300)
        #expect(heard.count == 101)
        #expect(heard.first == .lagged(200))
    }

    @Test("Sent, cleared and heard in any order, the sum is right", arguments: Seed.several(6))
    func sum(seed: Seed) async throws {
        var random = SeededRandom(seed)
        let fixture = WormholeFixture(historyByteCount: Self.brief)
        let (sender, listener) = try await (fixture.wormhole(), fixture.wormhole())
        let events = try await listener.listen(to: Self.box)
        var iterator = events.makeAsyncIterator()
        var (done, heard): (UInt64, UInt64) = (0, 0)
        var last = -1
        for number in 0..<3_000 {
            if Int.random(in: 0..<10, using: &random) == 0 {
                if try await sender.clear(Self.box) { done += 1 }
            }
            try await sender.send(number, to: Self.box)
            done += 1
            // Now and then it reads for a while; more messages come than it reads.
            guard Int.random(in: 0..<100, using: &random) == 0 else { continue }
            for _ in 0..<Int.random(in: 1...20, using: &random) where heard < done {
                heard += try await Self.weight(of: iterator.next(), last: &last)
            }
        }
        while heard < done { heard += try await Self.weight(of: iterator.next(), last: &last) }
        #expect(heard == done)
        #expect(last == 2_999)
    }

    /// The number of sends and clearings that an event stands for; messages rise.
    private static func weight(of event: MailboxEvent<Int>?, last: inout Int) throws -> UInt64 {
        switch try #require(event) {
        case .message(let message):
            #expect(message.value > last)
            last = message.value
            return 1
        case .lagged(let count): return count
        case .cleared, .undecodable: return 1
        }
    }
}

/// A group in memory in which participants open wormholes.
struct WormholeFixture {
    let space: MemorySpace

    /// - Parameter historyByteCount: The bytes of history that a slow listener can read back.
    init(historyByteCount: Int = 1 << 20) {
        space = MemorySpace(historyByteCount: historyByteCount)
    }

    /// Returns the wormhole of one more participant.
    func wormhole() async throws -> Wormhole {
        Wormhole(try await space.open("group"))
    }
}
