internal import CoreAPI
internal import CoreAPITesting
internal import TestSupport
internal import Testing

@Suite("E2: bytes are written in one form, and read without trust")
struct ByteCodingTests {
    private enum Item: Equatable {
        case byte(UInt8), flag(Bool), integer(UInt64), word(UInt64), halfWord(UInt32), data([UInt8]), text(String)
        case optional(UInt64?), array([UInt64])
    }

    private static func random(using random: inout SeededRandom) -> Item {
        switch Int.random(in: 0..<9, using: &random) {
        case 0: .byte(UInt8(truncatingIfNeeded: random.next()))
        case 1: .flag(random.once(in: 2))
        case 2: .integer(random.next() >> UInt64.random(in: 0...63, using: &random))
        case 3: .word(random.next())
        case 4: .halfWord(UInt32(truncatingIfNeeded: random.next()))
        case 5: .data(random.bytes(Int.random(in: 0...300, using: &random)))
        case 6:
            .text(
                String(
                    (0..<Int.random(in: 0...20, using: &random)).map { _ in
                        "aé😀\0/".randomElement(using: &random) ?? "a"
                    }))
        case 7: .optional(random.once(in: 2) ? nil : random.next())
        default: .array((0..<Int.random(in: 0...9, using: &random)).map { _ in random.next() })
        }
    }

    private static func write(_ item: Item, to writer: inout ByteWriter) {
        switch item {
        case .byte(let value): writer.byte(value)
        case .flag(let value): writer.flag(value)
        case .integer(let value): writer.integer(value)
        case .word(let value): writer.word(value)
        case .halfWord(let value): writer.halfWord(value)
        case .data(let value): writer.data(value)
        case .text(let value): writer.text(value)
        case .optional(let value): writer.optional(value) { $0.integer($1) }
        case .array(let values): writer.array(values) { $0.integer($1) }
        }
    }

    private static func read(like item: Item, from reader: inout ByteReader) throws -> Item {
        switch item {
        case .byte: .byte(try reader.byte())
        case .flag: .flag(try reader.flag())
        case .integer: .integer(try reader.integer())
        case .word: .word(try reader.word())
        case .halfWord: .halfWord(try reader.halfWord())
        case .data: .data(try reader.data())
        case .text: .text(try reader.text())
        case .optional: .optional(try reader.optional { reader throws(ByteCodingError) in try reader.integer() })
        case .array: .array(try reader.array { reader throws(ByteCodingError) in try reader.integer() })
        }
    }

    @Test("Written values are read back, also from the middle of other bytes", arguments: Seed.several(6))
    func roundTrips(seed: Seed) throws {
        var random = SeededRandom(seed)
        for _ in 0..<300 {
            let items = (0..<Int.random(in: 1...12, using: &random)).map { _ in Self.random(using: &random) }
            var writer = ByteWriter()
            for item in items { Self.write(item, to: &writer) }
            let padding = random.bytes(7)
            let bytes = padding + writer.bytes + padding
            var reader = ByteReader(bytes[7..<bytes.count - 7])
            for item in items { #expect(try Self.read(like: item, from: &reader) == item) }
            #expect(reader.remaining == 0)
            try reader.finish()

            for count in 0..<writer.bytes.count {
                var short = ByteReader(writer.bytes[..<count])
                #expect(throws: ByteCodingError.self) {
                    for item in items { _ = try Self.read(like: item, from: &short) }
                }
            }
        }
    }

    @Test("E2: random bytes are read or refused, never more than there are", arguments: Seed.several(4))
    func randomBytes(seed: Seed) {
        var random = SeededRandom(seed)
        for _ in 0..<5_000 {
            let bytes = random.bytes(Int.random(in: 0...40, using: &random))
            var reader = ByteReader(bytes)
            while reader.remaining > 0 {
                let before = reader.remaining
                guard (try? Self.read(like: Self.random(using: &random), from: &reader)) != nil else { break }
                #expect(reader.remaining <= before)
            }
        }
    }

    @Test(
        "Integers have one form: the shortest",
        arguments: [
            [0x80, 0x00], [0xff, 0x00], [0x80, 0x80, 0x00], [UInt8](repeating: 0x80, count: 9) + [0x00],
            [UInt8](repeating: 0xff, count: 9) + [0x02], [UInt8](repeating: 0xff, count: 10) + [0x01],
            [UInt8](repeating: 0x80, count: 11),
        ] as [[UInt8]])
    func otherFormsAreMalformed(bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        #expect(throws: ByteCodingError.malformed) { try reader.integer() }
    }

    @Test(
        "The ends of the range",
        arguments: [0, 0x7f, 0x80, 0x3fff, 0x4000, UInt64(UInt32.max), 1 << 63, .max] as [UInt64])
    func endsOfTheRange(value: UInt64) throws {
        var writer = ByteWriter()
        writer.integer(value)
        var reader = ByteReader(writer.bytes)
        #expect(try reader.integer() == value)
        #expect(writer.bytes.count == max(1, (64 - value.leadingZeroBitCount + 6) / 7))
    }

    @Test("E2: what is not text, not a flag, or left over is malformed")
    func malformed() {
        var text = ByteReader([2, 0xc0, 0x80])
        #expect(throws: ByteCodingError.malformed) { try text.text() }
        var flag = ByteReader([2])
        #expect(throws: ByteCodingError.malformed) { try flag.flag() }
        #expect(throws: ByteCodingError.malformed) { try ByteReader([1]).finish() }
        var count = ByteReader([5, 1, 2, 3])
        #expect(throws: ByteCodingError.truncated) { try count.data() }
    }
}
