/// Text that a program gets from outside as bytes: an argument, an environment variable or a path.
///
/// Swift replaces bytes that are not UTF-8 by U+FFFD, so two different names could become equal. The programs read
/// bytes instead, and refuse an argument that must be text and is not UTF-8 (contract S2). Text from outside is printed
/// escaped, so that it can neither end a line nor control a terminal (contract E2).
package enum ProgramText {
    /// The error for bytes that are not UTF-8.
    package struct NotText: Error, Hashable, Sendable, CustomStringConvertible {
        /// The bytes, as ``ProgramText/escaped(_:)`` shows them.
        package let shown: String

        package var description: String { "“\(shown)” is not UTF-8" }
    }

    /// Returns the text that bytes are.
    package static func text(_ bytes: [UInt8]) throws(NotText) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else { throw NotText(shown: escaped(bytes)) }
        return text
    }

    /// Returns bytes as one line of text: each byte that is not UTF-8 as `\xff`, and control characters escaped.
    package static func escaped(_ bytes: [UInt8]) -> String {
        var line = ""
        var parser = Unicode.UTF8.ForwardParser()
        var input = bytes.makeIterator()
        var position = 0
        while true {
            switch parser.parseScalar(from: &input) {
            case .valid(let encoded):
                line += Unicode.UTF8.decode(encoded).shown
                position += encoded.count
            case .error(let length):
                for byte in bytes[position..<(position + length)] { line += "\\x" + String(byte, radix: 16) }
                position += length
            case .emptyInput: return line
            }
        }
    }

    /// The longest line of a message or of the log, in bytes.
    package static let maximumLineByteCount = 4 << 10

    /// The longest quotation of a text in a message, in bytes.
    private static let maximumExcerptByteCount = 256

    /// Returns a text as one line, in which no character can control a terminal or end a line.
    ///
    /// - Parameter count: The maximum number of bytes. A longer text is cut, and the number of omitted bytes follows.
    package static func oneLine(_ text: String, upTo count: Int = .max) -> String {
        guard text.utf8.count > count || text.unicodeScalars.contains(where: \.isCommand) else { return text }
        var line = ""
        for index in text.unicodeScalars.indices {
            let shown = text.unicodeScalars[index].shown
            guard line.utf8.count + shown.utf8.count <= count else {
                return line + "… (\(text.utf8.distance(from: index, to: text.endIndex)) bytes more)"
            }
            line += shown
        }
        return line
    }

    /// Returns a text of the user for a message that quotes it. A long text is cut, and the number of omitted bytes follows.
    package static func excerpt(_ text: String) -> String {
        text.utf8.count > maximumExcerptByteCount ? oneLine(text, upTo: maximumExcerptByteCount) : text
    }

    /// Returns a text as one line of columns: as ``oneLine(_:upTo:)``, but for the tabs between them.
    package static func columns(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: { $0.isCommand && $0 != "\t" }) else { return text }
        return text.unicodeScalars.reduce(into: "") { line, scalar in line += scalar == "\t" ? "\t" : scalar.shown }
    }

    /// Returns a message of several lines, in which only line breaks and tabs can control a terminal.
    ///
    /// - Parameters:
    ///   - lineCount: The maximum number of lines. After them comes the number of omitted lines.
    ///   - byteCount: The maximum number of bytes of each line, as in ``oneLine(_:upTo:)``.
    package static func lines(_ text: String, atMost lineCount: Int, upTo byteCount: Int) -> String {
        let all = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        var shown = all.prefix(lineCount).map { line in
            let line = lines(String(decoding: line, as: UTF8.self))
            // A line keeps its tabs, unless it is cut.
            return line.utf8.count > byteCount ? oneLine(line, upTo: byteCount) : line
        }
        if all.count > lineCount { shown.append("… (\(all.count - lineCount) lines more)") }
        return shown.joined(separator: "\n")
    }

    /// Returns a text of several lines, in which only line breaks and tabs can control a terminal.
    package static func lines(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: { $0.isCommand && $0 != "\n" && $0 != "\t" }) else { return text }
        return text.unicodeScalars.reduce(into: "") { lines, scalar in
            lines += scalar == "\n" || scalar == "\t" ? "\(scalar)" : scalar.shown
        }
    }
}

extension Unicode.Scalar {
    /// True if the character can control a terminal or end a line: a control character (C0, DEL, C1), a separator of
    /// lines, or one that changes the direction of the text around it.
    ///
    /// Source: Unicode Standard Annex 9, section 2; Unicode Technical Report 36, section 2.
    var isCommand: Bool {
        switch self {
        case "\u{0}"..."\u{1f}", "\u{7f}"..."\u{9f}", "\u{61c}", "\u{200e}"..."\u{200f}", "\u{2028}"..."\u{202e}",
            "\u{2066}"..."\u{2069}":
            true
        default: false
        }
    }

    /// The character as people see it.
    fileprivate var shown: String { isCommand ? escaped(asASCII: true) : "\(self)" }
}
