/// Parses one JSON value strictly as RFC 8259 defines it.
///
/// Many decoders also accept invalid JSON, such as a comma at the end of a list, which other programs then reject.
package struct JSONGrammar {
    /// As deep as decoders go.
    package static let maximumDepth = 500

    private let bytes: [UInt8]
    private let maximumDepth: Int
    private var position = 0
    private var isExact = true
    private var repeatedName: String?

    /// Returns true if the bytes are one JSON value.
    package static func accepts(_ bytes: [UInt8]) -> Bool {
        value(of: bytes) != nil
    }

    /// Parses a value; nil if the bytes are not JSON. A lone surrogate becomes U+FFFD, because no text can contain it.
    ///
    /// - Parameter maximumDepth: The maximum nesting of lists and objects. Each level takes some of the thread's stack.
    package static func value(of bytes: [UInt8], maximumDepth: Int = JSONGrammar.maximumDepth) -> JSONValue? {
        read(bytes, maximumDepth: maximumDepth)?.value
    }

    /// A value, with the properties of its JSON text that the value does not show.
    package struct Reading {
        package let value: JSONValue
        /// True if no text has half of a character (an unpaired surrogate). The reader replaces each half by the same
        /// character, so a text with one must not serve as a name.
        package let isExact: Bool
        /// A name that occurs twice in an object, at any depth; nil if there is none. Parsers differ in which of the
        /// members they use.
        package let repeatedName: String?
    }

    /// Parses a value as ``value(of:maximumDepth:)`` does, and reports ambiguities in its text.
    package static func read(_ bytes: [UInt8], maximumDepth: Int = JSONGrammar.maximumDepth) -> Reading? {
        guard String(validating: bytes, as: UTF8.self) != nil else { return nil }
        var grammar = JSONGrammar(bytes: bytes, maximumDepth: maximumDepth)
        guard let value = grammar.value(depth: 0) else { return nil }
        grammar.skipSpace()
        guard grammar.position == bytes.count else { return nil }
        return Reading(value: value, isExact: grammar.isExact, repeatedName: grammar.repeatedName)
    }

    private init(bytes: [UInt8], maximumDepth: Int) {
        self.bytes = bytes
        self.maximumDepth = maximumDepth
    }

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skipSpace() {
        while let byte = next, byte == 0x20 || byte == 0x09 || byte == 0x0a || byte == 0x0d { position += 1 }
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private mutating func word(_ word: StaticString, _ value: JSONValue) -> JSONValue? {
        for character in "\(word)".unicodeScalars where !take(character) { return nil }
        return value
    }

    private mutating func value(depth: Int) -> JSONValue? {
        skipSpace()
        switch next {
        case UInt8(ascii: "{"):
            var object: JSONObject = [:]
            guard list(depth, closing: "}", of: { $0.member(depth + 1, of: &object) }) else { return nil }
            repeatedName = repeatedName ?? object.repeatedName
            return .object(object)
        case UInt8(ascii: "["):
            var values: [JSONValue] = []
            let isList = list(depth, closing: "]") { grammar in
                guard let value = grammar.value(depth: depth + 1) else { return false }
                values.append(value)
                return true
            }
            return isList ? .array(values) : nil
        case UInt8(ascii: "\""): return text().map { .text($0) }
        case UInt8(ascii: "t"): return word("true", .flag(true))
        case UInt8(ascii: "f"): return word("false", .flag(false))
        case UInt8(ascii: "n"): return word("null", .null)
        default: return number()
        }
    }

    private mutating func list(
        _ depth: Int, closing: Unicode.Scalar, of element: (inout JSONGrammar) -> Bool
    ) -> Bool {
        guard depth < maximumDepth else { return false }
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

    private mutating func member(_ depth: Int, of object: inout JSONObject) -> Bool {
        skipSpace()
        guard let name = text() else { return false }
        skipSpace()
        guard take(":"), let value = value(depth: depth) else { return false }
        object.append(name, value)
        return true
    }

    private mutating func text() -> String? {
        guard take("\"") else { return nil }
        // Collected as bytes and converted once: appending a scalar to a text takes time proportional to its length.
        var content: [UInt8] = []
        var start = position
        while let byte = next {
            switch byte {
            case UInt8(ascii: "\""):
                content += bytes[start..<position]
                position += 1
                return String(decoding: content, as: UTF8.self)
            case UInt8(ascii: "\\"):
                content += bytes[start..<position]
                position += 1
                guard let scalar = escape() else { return nil }
                content += scalar.utf8
                start = position
            case 0..<0x20: return nil
            default: position += 1
            }
        }
        return nil
    }

    private mutating func escape() -> Unicode.Scalar? {
        guard let byte = next else { return nil }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{c}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): break
        default: return nil
        }
        guard let unit = codeUnit() else { return nil }
        guard UTF16.isLeadSurrogate(unit) else { return Unicode.Scalar(unit) ?? half() }
        // The second half of a surrogate pair is an escape as well; anything else is parsed on its own.
        let start = position
        if take("\\"), take("u"), let second = codeUnit(), UTF16.isTrailSurrogate(second) {
            return UTF16.decode(UTF16.EncodedScalar([unit, second]))
        }
        position = start
        return half()
    }

    /// Returns the replacement for half of a character.
    private mutating func half() -> Unicode.Scalar {
        isExact = false
        return "\u{fffd}"
    }

    private mutating func codeUnit() -> UInt16? {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let byte = next, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else { return nil }
            unit = unit << 4 | UInt16(digit)
            position += 1
        }
        return unit
    }

    private mutating func digits() -> Bool {
        let start = position
        while let byte = next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { position += 1 }
        return position > start
    }

    private mutating func number() -> JSONValue? {
        let start = position
        _ = take("-")
        guard take("0") || digits() else { return nil }
        if take("."), !digits() { return nil }
        if take("e") || take("E") {
            _ = take("+") || take("-")
            guard digits() else { return nil }
        }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        if let integer = Int64(text) { return .integer(integer) }
        if let natural = UInt64(text) { return .natural(natural) }
        return .number(Double(text) ?? .infinity)
    }
}
