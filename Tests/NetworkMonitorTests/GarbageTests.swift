internal import CoreAPI
internal import CoreAPITesting
internal import NetworkMonitor
internal import TestSupport
internal import Testing

@Suite("Messages that no kernel sends", .timeLimit(.minutes(10)))
struct GarbageTests {
    /// Everything that there is to read, as it was recorded and as messages of our own.
    private func datagrams() throws -> [[UInt8]] {
        let router = KernelMessage.attribute(5, [192, 0, 2, 1])
        let own = [
            KernelMessage.link(7, "wan"), .address(7, "2001:db8::7"), .defaultRoute(7, attributes: router),
            KernelMessage(type: 3, flags: 0x2, sequence: 1, body: KernelMessage.word(Int32(0))),
        ]
        return try Recording().steps.flatMap(\.datagrams) + own.map(\.bytes)
    }

    @Test("A datagram that ends early gives the messages that are whole, and no others")
    func truncated() throws {
        for datagram in try datagrams() {
            let whole = RouteMessage.read(datagram)
            #expect(!whole.isEmpty)
            var last = 0
            for count in 0..<datagram.count {
                let read = RouteMessage.read(Array(datagram.prefix(count)))
                #expect(read == Array(whole.prefix(read.count)))
                #expect(read.count >= last && read.count <= whole.count)
                last = read.count
            }
        }
    }

    @Test(
        "Lengths that make no sense end what is read", arguments: [0, 1, 15, 17, 0x7fff_ffff, 0xffff_ffff] as [UInt32])
    func lengths(length: UInt32) {
        for rest in [[UInt8](), KernelMessage.link(7, "wan").bytes] {
            let header = KernelMessage.word(length) + KernelMessage(type: 16).bytes.dropFirst(4)
            #expect(RouteMessage.read(header + rest).allSatisfy { $0.content == .changes([]) })
        }
    }

    @Test("Attributes of absurd lengths are left out", arguments: [0, 1, 3, 5, 0x7fff, 0xffff] as [UInt16])
    func attributes(length: UInt16) {
        let attribute = KernelMessage.word(length) + KernelMessage.word(UInt16(4)) + [7, 0, 0, 0]
        for kind in [UInt16(9), 18] {
            let message = KernelMessage.defaultRoute(nil, attributes: KernelMessage.attribute(kind, attribute))
            #expect(RouteMessage.read(message.bytes) == [RouteMessage(.changes([]))])
        }
        #expect(
            RouteMessage.read(KernelMessage.defaultRoute(nil, attributes: attribute).bytes)
                == [RouteMessage(.changes([]))])
    }

    @Test("Random changes of real messages, and random bytes, trap nowhere", arguments: Seed.several(4))
    func random(seed: Seed) throws {
        var random = SeededRandom(seed)
        let datagrams = try datagrams()
        var tracker = NetworkTracker()
        var now = BootInstant(nanoseconds: 1)
        _ = tracker.start(at: now)
        for _ in 0..<5_000 {
            var bytes = datagrams.randomElement(using: &random) ?? []
            if random.once(in: 10) { bytes = random.bytes(Int.random(in: 0...200, using: &random)) }
            for _ in 0..<Int.random(in: 1...8, using: &random) where !bytes.isEmpty {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
                case 2: bytes.removeLast(bytes.count - place)
                // Lengths and kinds stand at the beginning.
                default: bytes[place % min(bytes.count, 32)] = [0, 1, 4, 0x7f, 0xff].randomElement(using: &random) ?? 0
                }
            }
            now = now.advanced(by: .milliseconds(Int.random(in: 0...300, using: &random)))
            for message in RouteMessage.read(bytes) { _ = tracker.receive(message, at: now) }
            _ = tracker.timePassed(at: now)
        }
    }
}
