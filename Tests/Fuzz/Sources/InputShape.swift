internal import CoreAPI

/// The parts of a target's inputs: a mutator changes one part, and joins all of them again, with the lengths and the
/// checksums of their framing.
protocol InputShape: Sendable {
    /// Takes the parts out of an input. The prefix is what stands before them.
    func parts(of bytes: [UInt8]) -> (prefix: [UInt8], parts: [[UInt8]])
    /// Returns the input with these parts.
    func joined(_ prefix: [UInt8], _ parts: [[UInt8]]) -> [UInt8]
    /// Returns a changed part.
    func changed(_ part: [UInt8], _ random: inout SplitMix) -> [UInt8]
    /// Words that the reader knows, for the library's own mutations.
    var words: [[UInt8]] { get }
}

extension InputShape {
    var words: [[UInt8]] { [] }

    func changed(_ part: [UInt8], _ random: inout SplitMix) -> [UInt8] {
        if !part.isEmpty, random.next(4) == 0 { return Self.withInteger(part, &random) }
        return Fuzzing.changed(part, maximum: part.count + 64)
    }

    /// Returns a mutated input of at most `maximum` bytes.
    func mutated(_ bytes: [UInt8], maximum: Int, seed: UInt32) -> [UInt8] {
        var random = SplitMix(seed: seed)
        var (prefix, parts) = parts(of: bytes)
        if parts.isEmpty { parts = [[]] }
        let index = random.next(parts.count)
        switch random.next(16) {
        case 0: return Fuzzing.changed(bytes, maximum: maximum)
        case 1: parts.insert(parts[index], at: random.next(parts.count + 1))
        case 2 where parts.count > 1: parts.remove(at: index)
        case 3: parts.swapAt(index, random.next(parts.count))
        case 4 where !prefix.isEmpty: prefix = Fuzzing.changed(prefix, maximum: prefix.count)
        default: parts[index] = changed(parts[index], &random)
        }
        let result = joined(prefix, parts)
        return result.count <= maximum ? result : bytes
    }

    /// Returns an input with parts of another one between its own or in their place.
    func crossed(_ bytes: [UInt8], with other: [UInt8], maximum: Int, seed: UInt32) -> [UInt8] {
        var random = SplitMix(seed: seed)
        var (prefix, parts) = parts(of: bytes)
        let others = self.parts(of: other).parts
        // The library crosses as often as it mutates, which would make all inputs long.
        guard !others.isEmpty, random.next(4) == 0 else { return mutated(bytes, maximum: maximum, seed: seed) }
        let start = random.next(others.count)
        let end = start + 1 + random.next(others.count - start)
        let position = random.next(parts.count + 1)
        let removed = random.next(2) == 0 ? 0 : min(end - start, parts.count - position)
        parts.replaceSubrange(position..<position + removed, with: others[start..<end])
        let result = joined(prefix, parts)
        return result.count <= maximum ? result : bytes
    }

    /// Replaces a byte that may be an integer of a `ByteWriter` by an integer at a limit.
    private static func withInteger(_ part: [UInt8], _ random: inout SplitMix) -> [UInt8] {
        var part = part
        let index = random.next(part.count)
        guard part[index] < 0x80 else { return part }
        var integer = UInt64(1) << UInt64([7, 8, 14, 16, 31, 32, 53, 62, 63].randomElement(using: &random) ?? 63)
        integer = integer &+ UInt64(random.next(3)) &- 1
        if random.next(8) == 0 { integer = .max }
        var writer = ByteWriter()
        writer.integer(integer)
        part.replaceSubrange(index...index, with: writer.bytes)
        return part
    }
}

/// Parts behind two bytes of length each, whose upper four bits are flags that stand before the part's bytes here.
struct LengthShape: InputShape {
    let prefixByteCount: Int

    func parts(of bytes: [UInt8]) -> (prefix: [UInt8], parts: [[UInt8]]) {
        var parts: [[UInt8]] = []
        var rest = bytes.dropFirst(prefixByteCount)
        while let low = rest.popFirst(), let high = rest.popFirst() {
            let part = rest.prefix(Int(low) | Int(high & 0x0f) << 8)
            parts.append([high >> 4] + part)
            rest = rest.dropFirst(part.count)
        }
        return (Array(bytes.prefix(prefixByteCount)), parts)
    }

    func joined(_ prefix: [UInt8], _ parts: [[UInt8]]) -> [UInt8] {
        var bytes = prefix + [UInt8](repeating: 0, count: prefixByteCount - prefix.count)
        for part in parts {
            let content = part.dropFirst().prefix(0xfff)
            bytes += [UInt8(truncatingIfNeeded: content.count), UInt8(content.count >> 8) | (part.first ?? 0) << 4]
            bytes += content
        }
        return bytes
    }
}

/// Text, whose parts are its lines.
struct TextShape: InputShape {
    let words: [[UInt8]]
    /// Bytes that begin a deeper level where they are repeated.
    private static let openings = ["[", "{", "[[", "{\"a\":", "- ", "? ", "\"", "'", "<a>"].map { Array($0.utf8) }
    private static let numbers = [
        "0", "1", "255", "256", "65535", "65536", "2147483648", "4294967295", "4294967296", "9223372036854775807",
        "9223372036854775808", "18446744073709551615", "18446744073709551616", "99999999999999999999999", "1.5", "0.5",
    ].map { Array($0.utf8) }

    init(_ words: [String]) { self.words = words.map { Array($0.utf8) } }

    func parts(of bytes: [UInt8]) -> (prefix: [UInt8], parts: [[UInt8]]) {
        ([], bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map(Array.init))
    }

    func joined(_ prefix: [UInt8], _ parts: [[UInt8]]) -> [UInt8] {
        Array(parts.joined(separator: [UInt8(ascii: "\n")]))
    }

    func changed(_ part: [UInt8], _ random: inout SplitMix) -> [UInt8] {
        var part = part
        let position = random.next(part.count + 1)
        switch random.next(8) {
        case 0: part.insert(contentsOf: words.randomElement(using: &random) ?? [], at: position)
        case 1, 2: replaceToken(of: &part, by: words, &random)
        case 3, 4: replaceToken(of: &part, by: Self.numbers, &random)
        case 5:
            // Many of one sequence of bytes: long values, and deep nesting.
            let own = Array(part.dropFirst(position).prefix(1 + random.next(8)))
            let repeated = random.next(2) == 0 ? own : Self.openings.randomElement(using: &random) ?? own
            let count = 1 << random.next(11)
            part.insert(contentsOf: Array(repeatElement(repeated, count: count).joined()), at: position)
        default: return Fuzzing.changed(part, maximum: part.count + 64)
        }
        return part
    }

    /// Replaces one of the words and numbers of a line. Numbers keep the unit behind them half of the time.
    private func replaceToken(of part: inout [UInt8], by replacements: [[UInt8]], _ random: inout SplitMix) {
        guard let replacement = replacements.randomElement(using: &random) else { return }
        var tokens: [Range<Int>] = []
        for (index, byte) in part.enumerated() where Self.isWord(byte) {
            if let last = tokens.last, last.upperBound == index {
                tokens[tokens.count - 1] = last.lowerBound..<index + 1
            } else {
                tokens.append(index..<index + 1)
            }
        }
        guard var token = tokens.randomElement(using: &random) else { return part += replacement }
        let digits = part[token].prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        if !digits.isEmpty, random.next(2) == 0 { token = token.lowerBound..<digits.endIndex }
        part.replaceSubrange(token, with: replacement)
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."):
            true
        default: false
        }
    }
}

/// The generator of Steele, Lea and Flood (2014).
struct SplitMix: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt32) { state = UInt64(seed) }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var value = state
        value = (value ^ (value >> 30)) &* 0xbf58_476d_1ce4_e5b9
        value = (value ^ (value >> 27)) &* 0x94d0_49bb_1331_11eb
        return value ^ (value >> 31)
    }

    /// Returns a number below `bound`.
    mutating func next(_ bound: Int) -> Int { Int(next() % UInt64(max(bound, 1))) }
}
