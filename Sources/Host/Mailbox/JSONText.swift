internal import Wormholes

/// A message as people and scripts write it at a shell: any JSON value, in one line.
struct JSONText: Hashable, Sendable {
    struct NoJSON: Error, CustomStringConvertible {
        var description: String { "It is not JSON (RFC 8259)." }
    }

    let text: String

    init(_ bytes: [UInt8]) throws(NoJSON) {
        guard JSONGrammar.accepts(bytes) else { throw NoJSON() }
        // In JSON, line breaks stand between the parts of a value, never in them.
        text = String(decoding: bytes.map { $0 == 0x0a || $0 == 0x0d ? 0x20 : $0 }, as: UTF8.self)
    }

    static var codec: MessageCodec<JSONText> {
        MessageCodec(name: MessageCodec<Bool>.json.name, encode: { Array($0.text.utf8) }, decode: { try JSONText($0) })
    }
}

/// Tells whether bytes are one JSON value after RFC 8259, and nothing more than the RFC allows.
///
/// Decoders are more generous: what one of them takes, such as a comma at the end of a list, breaks the lines of the next
/// program.
struct JSONGrammar {
    /// As deep as decoders go.
    private static let maximumDepth = 500

    private let bytes: [UInt8]
    private var position = 0

    static func accepts(_ bytes: [UInt8]) -> Bool {
        guard String(validating: bytes, as: UTF8.self) != nil else { return false }
        var grammar = JSONGrammar(bytes: bytes)
        guard grammar.value(depth: 0) else { return false }
        grammar.skipSpace()
        return grammar.position == bytes.count
    }

    private init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skipSpace() {
        while let byte = next, [0x20, 0x09, 0x0a, 0x0d].contains(byte) { position += 1 }
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private mutating func word(_ word: StaticString) -> Bool {
        for character in "\(word)".unicodeScalars where !take(character) { return false }
        return true
    }

    private mutating func value(depth: Int) -> Bool {
        skipSpace()
        switch next {
        case UInt8(ascii: "{"): return list(depth, closing: "}") { $0.member(depth + 1) }
        case UInt8(ascii: "["): return list(depth, closing: "]") { $0.value(depth: depth + 1) }
        case UInt8(ascii: "\""): return text()
        case UInt8(ascii: "t"): return word("true")
        case UInt8(ascii: "f"): return word("false")
        case UInt8(ascii: "n"): return word("null")
        default: return number()
        }
    }

    private mutating func list(
        _ depth: Int, closing: Unicode.Scalar, of element: (inout JSONGrammar) -> Bool
    ) -> Bool {
        guard depth < Self.maximumDepth else { return false }
        position += 1
        skipSpace()
        if take(closing) { return true }
        while element(&self) {
            skipSpace()
            if take(closing) { return true }
            guard take(",") else { return false }
        }
        return false
    }

    private mutating func member(_ depth: Int) -> Bool {
        skipSpace()
        guard text() else { return false }
        skipSpace()
        return take(":") && value(depth: depth)
    }

    private mutating func text() -> Bool {
        guard take("\"") else { return false }
        while let byte = next {
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return true
            case UInt8(ascii: "\\"): guard escape() else { return false }
            case 0..<0x20: return false
            default: break
            }
        }
        return false
    }

    private mutating func escape() -> Bool {
        guard let byte = next else { return false }
        position += 1
        guard byte == UInt8(ascii: "u") else { return "\"\\/bfnrt".utf8.contains(byte) }
        for _ in 0..<4 {
            guard let digit = next, Character(Unicode.Scalar(digit)).isHexDigit else { return false }
            position += 1
        }
        return true
    }

    private mutating func digits() -> Bool {
        let start = position
        while let byte = next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { position += 1 }
        return position > start
    }

    private mutating func number() -> Bool {
        _ = take("-")
        guard take("0") || digits() else { return false }
        if take("."), !digits() { return false }
        guard take("e") || take("E") else { return true }
        _ = take("+") || take("-")
        return digits()
    }
}
