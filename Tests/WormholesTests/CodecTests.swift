import CoreAPI
import Testing
import Wormholes

@Suite("Codecs: how messages become bytes (M1, M3)")
struct CodecTests {
    private struct Settings: Codable, Hashable, Sendable {
        var volume: Double
        var names: [String]
        var parent: [String: Int]?
    }

    private static let settings = Settings(volume: 0.1, names: ["ä", "", "\u{0}"], parent: ["x": .min])

    @Test("A property list goes through a mailbox and a queue, and is a binary one")
    func propertyList() async throws {
        let wormhole = try await WormholeFixture().wormhole()
        let box = MailboxID<Settings>("settings", codec: .propertyList)
        let queue = QueueID<Settings>("settings", codec: .propertyList)
        try await wormhole.send(Self.settings, to: box)
        try await wormhole.send(Self.settings, to: queue)
        #expect(try await wormhole.read(box)?.value == Self.settings)
        #expect(try await wormhole.take(from: queue)?.message == Self.settings)
        let bytes = try await wormhole.group.list().entries.first { $0.key.text.hasSuffix("/value") }?.value ?? []
        #expect(String(decoding: bytes, as: UTF8.self).contains("bplist00"))
    }

    @Test("JSON of equal messages is equal bytes")
    func sortedJSON() async throws {
        let fixture = WormholeFixture()
        let wormhole = try await fixture.wormhole()
        var written: Set<[UInt8]> = []
        for round in 0..<20 {
            var parent: [String: Int] = [:]
            for number in 0..<20 { parent["\((number * 7 + round) % 20)"] = (number * 7 + round) % 20 }
            let box = MailboxID<[String: Int]>("box")
            try await wormhole.send(parent, to: box)
            let entry = try await wormhole.group.list().entries.first { $0.key.text.hasSuffix("/value") }
            written.insert(try #require(entry?.value))
        }
        #expect(written.count == 1)
    }

    @Test("A codec of one's own: fields with numbers; an unknown field is passed over, a damaged one is an event")
    func wire() async throws {
        let wormhole = try await WormholeFixture().wormhole()
        let box = MailboxID<Reading>("reading", codec: .wire)
        for reading in [Reading(), Reading(sensor: .max, name: "größe"), Reading(sensor: 300)] {
            try await wormhole.send(reading, to: box)
            #expect(try await wormhole.read(box)?.value == reading)
        }
        // As a newer program writes it that has added field 9, and one that is cut off.
        let raw = MailboxID<[UInt8]>("reading", codec: MessageCodec(name: "reading", encode: { $0 }, decode: { $0 }))
        try await wormhole.send([0x08, 0xac, 0x02, 0x48, 0x01], to: raw)
        #expect(try await wormhole.read(box)?.value == Reading(sensor: 300))
        try await wormhole.send([0x08, 0xac], to: raw)
        let error = await #expect(throws: WormholeError.self) { try await wormhole.read(box) }
        guard case .malformed = error?.decodingFailure?.reason else {
            Issue.record("a damaged field: \(String(describing: error))")
            return
        }
    }

    @Test("A codec that fails to write sends nothing")
    func failure() async throws {
        struct Unwritable: Error {}
        let wormhole = try await WormholeFixture().wormhole()
        let box = MailboxID<Int>(
            "box", codec: MessageCodec(name: "bad", encode: { _ in throw Unwritable() }, decode: { _ in 1 }))
        let error = await #expect(throws: WormholeError.self) { try await wormhole.send(1, to: box) }
        #expect(error?.code == .encodingFailed)
        #expect(try await wormhole.group.list().entries.isEmpty)
    }
}

/// A message in the manner of protocol buffers: fields with a number in front, unknown ones passed over, defaults left out.
struct Reading: Hashable, Sendable {
    var sensor: UInt64 = 0
    var name = ""

    /// The fields are no text or do not add up.
    struct Malformed: Error {}
}

extension MessageCodec where Message == Reading {
    /// The wire format of protocol buffers, as far as this message needs it: varints (0) and counted bytes (2).
    static var wire: MessageCodec {
        MessageCodec(name: "reading") { reading in
            var writer = ByteWriter()
            if reading.sensor != 0 {
                writer.integer(1 << 3 | 0)
                writer.integer(reading.sensor)
            }
            if !reading.name.isEmpty {
                writer.integer(2 << 3 | 2)
                writer.text(reading.name)
            }
            return writer.bytes
        } decode: { bytes in
            var reader = ByteReader(bytes)
            var reading = Reading()
            while reader.remaining > 0 {
                let tag = try reader.integer()
                switch (tag >> 3, tag & 7) {
                case (1, 0): reading.sensor = try reader.integer()
                case (2, 2): reading.name = try reader.text()
                case (_, 0): _ = try reader.integer()
                case (_, 2): _ = try reader.data()
                default: throw Reading.Malformed()
                }
            }
            return reading
        }
    }
}
