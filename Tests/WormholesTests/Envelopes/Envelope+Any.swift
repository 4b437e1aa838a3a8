import CoreAPITesting

@testable import Wormholes

extension Envelope {
    /// An envelope of random parts.
    static func any(using random: inout SplitMix64) -> Envelope {
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
    static func any(using random: inout SplitMix64, count: ClosedRange<Int> = 0...12) -> String {
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
    mutating func mutate(using random: inout SplitMix64) {
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
