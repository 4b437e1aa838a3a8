internal import CoreAPI
internal import CoreAPITesting
internal import TestSupport
internal import Testing

@testable internal import StoreEngine

@Suite("S9, S11: the bytes of a journal")
struct JournalBytesTests {
    private static let salt: UInt64 = 0x5a17

    private static func journal(_ seed: Seed, steps: Int) throws -> (payloads: [[UInt8]], bytes: [UInt8]) {
        var machine = RandomMachine(seed: seed)
        machine.run(steps)
        return (try machine.effects.map { try $0.payload() }, try machine.effects.journal(salt: salt))
    }

    @Test("S9: every truncation of a journal reads as a prefix of it, and as nothing else", arguments: Seed.several(3))
    func truncationsArePrefixes(seed: Seed) throws {
        let (payloads, bytes) = try Self.journal(seed, steps: 25)
        var ends: Set<Int> = [0]
        var end = 0
        for payload in payloads {
            end += JournalChain.headerByteCount + payload.count
            ends.insert(end)
        }
        #expect(end == bytes.count)
        for count in 0...bytes.count {
            let content = JournalContent(Array(bytes[..<count]), salt: Self.salt)
            #expect(content.payloads.map { Array($0) } == Array(payloads.prefix(content.payloads.count)))
            if ends.contains(count) {
                #expect(content.end == nil)
            } else {
                guard case .incomplete(let needed) = content.end else {
                    Issue.record("\(count) of \(bytes.count) bytes read as \(String(describing: content.end))")
                    return
                }
                #expect(needed > count - (content.payloads.last?.endIndex ?? 0))
            }
        }
    }

    @Test(
        "S9: every changed byte is noticed where it stands, and what stands before it is read",
        arguments: Seed.several(3))
    func flipsAreNoticed(seed: Seed) throws {
        var random = SeededRandom(seed)
        let (payloads, bytes) = try Self.journal(seed, steps: 12)
        for position in bytes.indices {
            for mask in [1, 0x80, UInt8.random(in: 1...255, using: &random)] as [UInt8] {
                var changed = bytes
                changed[position] ^= mask
                let content = JournalContent(changed, salt: Self.salt)
                #expect(content.end != nil, "the change \(mask) of byte \(position) passed")
                #expect(content.payloads.map { Array($0) } == Array(payloads.prefix(content.payloads.count)))
                #expect((content.payloads.last?.endIndex ?? 0) <= position)
            }
        }
    }

    @Test(
        "S9: frames that were swapped, left out, repeated or taken from another journal do not pass",
        arguments: Seed.several(3))
    func splicesAreNoticed(seed: Seed) throws {
        let (payloads, bytes) = try Self.journal(seed, steps: 25)
        let content = JournalContent(bytes, salt: Self.salt)
        let frames = content.payloads.map { Array(bytes[$0.startIndex - JournalChain.headerByteCount..<$0.endIndex]) }
        try #require(frames.count > 4)
        func readCount(_ frames: [[UInt8]]) -> Int {
            JournalContent(frames.flatMap { $0 }, salt: Self.salt).payloads.count
        }
        for index in 1..<frames.count - 1 {
            var swapped = frames
            swapped.swapAt(index, index + 1)
            #expect(readCount(swapped) == index)
            var shorter = frames
            shorter.remove(at: index)
            #expect(readCount(shorter) == index)
            var repeated = frames
            repeated.insert(frames[index], at: index + 1)
            #expect(readCount(repeated) == index + 1)
        }
        #expect(JournalContent(bytes, salt: Self.salt ^ 1).payloads.isEmpty)
        #expect(payloads.count == frames.count)
    }

    @Test("S9: a frame is read as it was written, with its header", arguments: Seed.several(3))
    func headersComeBack(seed: Seed) throws {
        var random = SeededRandom(seed)
        var written = JournalChain(salt: Self.salt)
        var read = written
        for count in [0, 1, 7, 8, 9, 4_096, 70_000] {
            let interest = UInt64.random(in: 0...UInt64.max, using: &random)
            let payload = random.bytes(count)
            let frame = written.frame(payload, interest: interest)
            let header = FrameHeader(frame[...])
            #expect(header.length == UInt64(count))
            #expect(header.interest == interest)
            #expect(header.chainWord == written.value)
            #expect(header == FrameHeader(of: payload, interest: interest, after: read.value))
            #expect(read.read(frame[...]) == .frame(FrameHeader.byteCount..<frame.count))
            #expect(read == written)
        }
    }

    @Test("S9: a changed bit of a header is found without the payload, one of a payload by its checksum")
    func flippedBits() {
        let chain = JournalChain(salt: Self.salt)
        var writer = chain
        let frame = writer.frame([UInt8](0..<61), interest: 0x8000_0000_0001_0001)
        func reading(_ bytes: [UInt8]) -> JournalChain.Reading {
            var reader = chain
            return reader.read(bytes[...])
        }
        #expect(reading(Array(frame.prefix(FrameHeader.byteCount))) == .incomplete(byteCount: frame.count))
        for bit in 0..<frame.count * 8 {
            var changed = frame
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            if bit < FrameHeader.byteCount * 8 { changed.removeLast(frame.count - FrameHeader.byteCount) }
            #expect(reading(changed) == .damaged, "bit \(bit)")
        }
    }

    @Test(
        "S11: random bytes are no journal, and an absurd length is refused without a look at it",
        arguments: Seed.several(4))
    func randomBytesAreNoJournal(seed: Seed) {
        var random = SeededRandom(seed)
        for _ in 0..<2_000 {
            let bytes = random.bytes(Int.random(in: 0...64, using: &random))
            #expect(JournalContent(bytes, salt: Self.salt).payloads.isEmpty)
        }
        for length in [UInt64(JournalChain.maximumPayloadByteCount) + 1, .max, 1 << 63, 1 << 32] {
            var chain = JournalChain(salt: Self.salt)
            let header = withUnsafeBytes(of: length.littleEndian) { Array($0) } + [UInt8](repeating: 0, count: 24)
            #expect(chain.read(header[...]) == .damaged)
            #expect(chain == JournalChain(salt: Self.salt), "a damaged frame leaves the chain where it was")
        }
    }
}
