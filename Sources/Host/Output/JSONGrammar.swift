/// Tells whether bytes are one JSON value after RFC 8259, and nothing more than the RFC allows.
///
/// Decoders are more generous: an error that one of them accepts, such as a comma at the end of a list, breaks the
/// lines of the next program.
struct JSONGrammar {
    /// As deep as decoders go.
    private static let maximumDepth = 500

    private let bytes: [UInt8]
    private var position = 0
    /// The number of members of the outermost object.
    private var memberCount = 0

    static func accepts(_ bytes: [UInt8]) -> Bool {
        memberCount(in: bytes) != nil
    }

    /// The number of members of an object, of which a decoder keeps one of each name; nil for bytes that are no JSON.
    static func memberCount(in bytes: [UInt8]) -> Int? {
        guard String(validating: bytes, as: UTF8.self) != nil else { return nil }
        var grammar = JSONGrammar(bytes: bytes)
        guard grammar.value(depth: 0) else { return nil }
        grammar.skipSpace()
        return grammar.position == bytes.count ? grammar.memberCount : nil
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
        if depth == 1 { memberCount += 1 }
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

/// A JSON text that was cut off somewhere.
enum CutJSON {
    /// The state of reading the text up to a byte.
    private struct Scan {
        /// The bytes that close the open objects and lists, the innermost last.
        var closers: [UInt8] = []
        var isInString = false
        /// Whether the next string is, or this one was, the name of a member.
        var isName = false
        /// The last place at which the text can be ended, and the bytes that end it there.
        var end: (count: Int, ending: String, closers: [UInt8])?

        mutating func mayEnd(at count: Int, with ending: String = "") { end = (count, ending, closers) }
    }

    /// Returns the text up to the last place at which it can be ended, ended there: a string by “…” and a quote, then
    /// all that is open. Nil for bytes that do not begin an object or a list.
    static func completed(_ bytes: [UInt8]) -> [UInt8]? {
        var scan = Scan()
        var index = 0
        while index < bytes.count {
            let count = scan.isInString ? step(inString: &scan, bytes, index) : step(&scan, bytes[index], index)
            guard index + count <= bytes.count else { break }
            index += count
        }
        guard let end = scan.end, !end.closers.isEmpty else { return nil }
        let completed = bytes[..<end.count] + Array(end.ending.utf8) + end.closers.reversed()
        return JSONGrammar.accepts(Array(completed)) ? Array(completed) : nil
    }

    /// Reads a character of a string, and returns how many bytes it has.
    private static func step(inString scan: inout Scan, _ bytes: [UInt8], _ index: Int) -> Int {
        let byte = bytes[index]
        if byte == UInt8(ascii: "\"") {
            scan.isInString = false
            if !scan.isName { scan.mayEnd(at: index + 1) }
            return 1
        }
        if !scan.isName, !isLowSurrogate(bytes[index...]) { scan.mayEnd(at: index, with: "…\"") }
        guard byte == UInt8(ascii: "\\") else { return characterByteCount(byte) }
        return index + 1 < bytes.count && bytes[index + 1] == UInt8(ascii: "u") ? 6 : 2
    }

    /// Reads a byte between strings.
    private static func step(_ scan: inout Scan, _ byte: UInt8, _ index: Int) -> Int {
        switch byte {
        case UInt8(ascii: "\""): scan.isInString = true
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            scan.closers.append(byte + 2)
            scan.isName = byte == UInt8(ascii: "{")
        case UInt8(ascii: "}"), UInt8(ascii: "]"):
            _ = scan.closers.popLast()
            scan.isName = false
            scan.mayEnd(at: index + 1)
        case UInt8(ascii: ":"): scan.isName = false
        case UInt8(ascii: ","):
            scan.mayEnd(at: index)
            scan.isName = scan.closers.last == UInt8(ascii: "}")
        default: break
        }
        return 1
    }

    /// Returns whether bytes begin with the escape of the second half of a character, which means nothing without the
    /// first.
    private static func isLowSurrogate(_ bytes: ArraySlice<UInt8>) -> Bool {
        let escape = bytes.prefix(4).map { $0 | 0x20 }
        return escape.count == 4 && escape[..<3] == [UInt8(ascii: "\\") | 0x20, UInt8(ascii: "u"), UInt8(ascii: "d")]
            && (UInt8(ascii: "c")...UInt8(ascii: "f")).contains(escape[3])
    }

    /// Returns the number of bytes of the character that begins with a byte.
    static func characterByteCount(_ first: UInt8) -> Int {
        switch first {
        case 0xc0..<0xe0: 2
        case 0xe0..<0xf0: 3
        case 0xf0...: 4
        default: 1
        }
    }
}
