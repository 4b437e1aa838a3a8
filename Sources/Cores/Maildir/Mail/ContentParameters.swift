/// The two parameters of a content type that decide how a part is read. They are not passed to GMime: a value may name
/// any character set, and GMime would decode it with that.
///
/// They contain only ASCII, so the values are read as bytes. Reads the parameters of mail programs as GMime does: a
/// value without quotes ends with the semicolon.
///
/// Source: RFC 2045, 5.1; RFC 2231, 3 and 4.
struct ContentParameters: Hashable, Sendable {
    /// The boundary between the parts of a multipart.
    private(set) var boundary: [UInt8]?
    /// The name of the character set.
    private(set) var characterSet: [UInt8]?

    /// Reads the parameters from a field.
    ///
    /// - Parameter field: The value of the field, folds included.
    init(_ field: ArraySlice<UInt8>) {
        // A fold is the white space after its line end.
        var reader = Reader(bytes: field.filter { $0 != UInt8(ascii: "\r") && $0 != UInt8(ascii: "\n") })
        var found: [String: [UInt8]] = [:]
        var pieces: [String: [Int: [UInt8]]] = [:]
        while reader.skip(past: UInt8(ascii: ";")) {
            guard let parameter = reader.parameter(), Self.names.contains(parameter.name) else { continue }
            if let number = parameter.number {
                if pieces[parameter.name]?[number] == nil {
                    pieces[parameter.name, default: [:]][number] = parameter.value
                }
            } else if found[parameter.name] == nil {
                found[parameter.name] = parameter.value
            }
        }
        for (name, pieces) in pieces where found[name] == nil {
            found[name] = pieces.sorted { $0.key < $1.key }.flatMap(\.value)
        }
        boundary = found["boundary"]
        characterSet = found["charset"]
    }

    private static let names: Set = ["boundary", "charset"]

    private struct Parameter {
        let name: String
        /// The number of this piece, if the value is in several pieces.
        var number: Int?
        var value: [UInt8]
    }

    private struct Reader {
        let bytes: [UInt8]
        var position = 0

        init(bytes: [UInt8]) {
            self.bytes = bytes
        }

        private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

        /// Moves on, at most to the end.
        private mutating func advance() {
            position = min(position + 1, bytes.count)
        }

        /// Moves past the next occurrence of the byte.
        ///
        /// - Returns: False if there is none.
        mutating func skip(past byte: UInt8) -> Bool {
            while let next {
                advance()
                if next == byte { return true }
            }
            return false
        }

        /// Reads a parameter up to the end of its value; nil if there is none.
        mutating func parameter() -> Parameter? {
            skipSpaceAndComments()
            let start = position
            while let next, !Self.endsName(next) { advance() }
            var parameter = Parameter(
                name: String(decoding: bytes[start..<position].prefix(10), as: UTF8.self).lowercased(), value: [])
            skipSpaceAndComments()
            var isEncoded = false
            if take(UInt8(ascii: "*")) {
                skipSpaceAndComments()
                parameter.number = number()
                isEncoded = parameter.number == nil
                skipSpaceAndComments()
                isEncoded = take(UInt8(ascii: "*")) || isEncoded
                skipSpaceAndComments()
            }
            guard take(UInt8(ascii: "=")) else { return nil }
            skipSpaceAndComments()
            let value = next == UInt8(ascii: "\"") ? quoted() : plain()
            parameter.value = isEncoded ? Self.decoded(value, isFirst: (parameter.number ?? 0) == 0) : value
            return parameter
        }

        private static func endsName(_ byte: UInt8) -> Bool {
            byte <= 0x20 || "*=;(\"".utf8.contains(byte)
        }

        private mutating func take(_ byte: UInt8) -> Bool {
            guard next == byte else { return false }
            advance()
            return true
        }

        private mutating func number() -> Int? {
            var number: Int?
            while let next, (0x30...0x39).contains(next) {
                number = min((number ?? 0) * 10 + Int(next) - 0x30, 1 << 20)
                advance()
            }
            return number
        }

        private mutating func skipSpaceAndComments() {
            var depth = 0
            while let next {
                switch next {
                case UInt8(ascii: "("): depth += 1
                case UInt8(ascii: ")") where depth > 0: depth -= 1
                case UInt8(ascii: "\\") where depth > 0: advance()
                default: if depth == 0, !MailText.isSpace(next) { return }
                }
                advance()
            }
        }

        private mutating func quoted() -> [UInt8] {
            var value: [UInt8] = []
            advance()
            while let next, next != UInt8(ascii: "\"") {
                if next == UInt8(ascii: "\\") { advance() }
                guard position < bytes.count else { break }
                value.append(bytes[position])
                advance()
            }
            advance()
            return value
        }

        private mutating func plain() -> [UInt8] {
            let start = position
            while let next, next != UInt8(ascii: ";") { advance() }
            var value = bytes[start..<position]
            while let last = value.last, MailText.isSpace(last) { value.removeLast() }
            return Array(value)
        }

        /// Removes the additions of RFC 2231: the names of character set and language in front, and percent signs.
        private static func decoded(_ value: [UInt8], isFirst: Bool) -> [UInt8] {
            let parts = value.split(separator: UInt8(ascii: "'"), maxSplits: 2, omittingEmptySubsequences: false)
            var rest = isFirst && parts.count == 3 ? parts[2] : value[...]
            var decoded: [UInt8] = []
            while let byte = rest.popFirst() {
                let digits = rest.prefix(2)
                if byte == UInt8(ascii: "%"), digits.count == 2,
                    let number = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
                {
                    decoded.append(number)
                    rest = rest.dropFirst(2)
                } else {
                    decoded.append(byte)
                }
            }
            return decoded
        }
    }
}
