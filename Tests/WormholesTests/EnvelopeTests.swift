internal import CoreAPI
import CoreAPITesting
internal import TestSupport
import Testing
import WormholeFormat

@testable import Wormholes

@Suite("Envelopes: what stands in the store for one message (M3, E2)")
struct EnvelopeTests {
    @Test("An envelope is read as what was written", arguments: Seed.several(4))
    func roundTrip(seed: Seed) {
        var random = SeededRandom(seed)
        for _ in 0..<5_000 {
            let envelope = Envelope.any(using: &random)
            #expect(Envelope(envelope.bytes) == envelope)
        }
    }

    @Test("Bytes that are no envelope are never one: nil, or the very bytes again", arguments: Seed.several(4))
    func mutated(seed: Seed) {
        var random = SeededRandom(seed)
        for _ in 0..<20_000 {
            var bytes = Envelope.any(using: &random).bytes
            for _ in 0..<Int.random(in: 1...3, using: &random) { bytes.mutate(using: &random) }
            if let envelope = Envelope(bytes) { #expect(envelope.bytes == bytes) }
        }
    }

    @Test("Random bytes are nil, or the very bytes again", arguments: Seed.several(4))
    func random(seed: Seed) {
        var random = SeededRandom(seed)
        for _ in 0..<50_000 {
            var bytes = (0..<Int.random(in: 0...40, using: &random)).map { _ in UInt8.random(in: 0...4, using: &random)
            }
            // Half of them get past the first byte.
            if Bool.random(using: &random) { bytes.insert(Envelope.mark, at: 0) }
            if let envelope = Envelope(bytes) { #expect(envelope.bytes == bytes) }
        }
    }

    @Test("A part of an envelope, and one with more behind it, is none")
    func cut() {
        let whole = Envelope(codec: "json", schema: 7, replyTo: "place", content: .message([1, 2, 3])).bytes
        for count in 0..<whole.count { #expect(Envelope(Array(whole[..<count])) == nil) }
        #expect(Envelope(whole + [0]) == nil)
        #expect(Envelope(whole) != nil)
    }

    @Test("A count beyond the end is refused before anything is reserved for it")
    func absurdLength() {
        // The mark, and a name of 2^63 bytes.
        #expect(Envelope([Envelope.mark] + [UInt8](repeating: 0xff, count: 8) + [0x7f]) == nil)
        #expect(Envelope([Envelope.mark] + [UInt8](repeating: 0xff, count: 9) + [0x01]) == nil)
    }

    @Test("Bytes of a text are never accepted as an envelope")
    func text() {
        for text in ["", "{}", "\"text\"", "é", "\u{1844}", "\u{1000}"] { #expect(Envelope(Array(text.utf8)) == nil) }
    }

    @Test("The layout does not change by accident: other programs have written it")
    func layout() {
        let request = Envelope(codec: "json", schema: 0x0102, replyTo: "r", content: .message([0x7b, 0x7d]))
        #expect(
            request.bytes
                == [0xe1, 4] + Array("json".utf8) + [2, 1, 0, 0, 1, 1] + Array("r".utf8) + [0, 2, 0x7b, 0x7d])
        let refusal = Envelope(codec: "", schema: 0, content: .failure("no"))
        #expect(refusal.bytes == [0xe1, 0, 0, 0, 0, 0, 0, 1, 2] + Array("no".utf8))
    }
}

extension Envelope {
    /// An envelope of random parts.
    static func any(using random: inout SeededRandom) -> Envelope {
        let content: Content =
            Int.random(in: 0..<4, using: &random) == 0
            ? .failure(.any(using: &random))
            : .message(
                (0..<Int.random(in: 0...200, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) })
        return Envelope(
            codec: .any(using: &random), schema: UInt32(truncatingIfNeeded: random.next()),
            replyTo: Bool.random(using: &random) ? .any(using: &random) : nil, content: content)
    }
}

extension String {
    /// A text of characters that codings stumble over.
    static func any(using random: inout SeededRandom, count: ClosedRange<Int> = 0...12) -> String {
        let alphabet: [Unicode.Scalar] = [
            "%", "/", "2", "F", "f", "5", "\u{0}", "\n", " ", ".", "é", "e", "\u{301}", "😀", "-", "~", "m", "\u{7f}",
        ]
        var text = String.UnicodeScalarView()
        for _ in 0..<Int.random(in: count, using: &random) {
            text.append(alphabet[Int.random(in: 0..<alphabet.count, using: &random)])
        }
        return String(text)
    }
}

extension [UInt8] {
    /// Changes, takes out or adds a byte somewhere, or cuts the end off.
    mutating func mutate(using random: inout SeededRandom) {
        guard !isEmpty else { return append(UInt8.random(in: 0...255, using: &random)) }
        let place = Int.random(in: 0..<count, using: &random)
        switch Int.random(in: 0..<5, using: &random) {
        case 0: self[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case 1: self[place] = UInt8.random(in: 0...255, using: &random)
        case 2: remove(at: place)
        case 3: insert(UInt8.random(in: 0...255, using: &random), at: place)
        default: removeLast(count - place)
        }
    }
}
