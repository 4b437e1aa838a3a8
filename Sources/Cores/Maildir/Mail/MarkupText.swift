/// Extracts the text of an HTML document, for messages without plain text.
enum MarkupText {
    /// Drops tags, comments, scripts and styles, and breaks lines where a browser would.
    ///
    /// Takes one pass over any document.
    static func plain(_ document: String) -> String {
        var reader = Reader(bytes: Array(document.utf8))
        reader.read()
        return MailText.lines(MarkupEntities.decode(reader.text[...]))
    }

    private struct Reader {
        let bytes: [UInt8]
        var position = 0
        var text: [UInt8] = []

        init(bytes: [UInt8]) {
            self.bytes = bytes
        }

        mutating func read() {
            while position < bytes.count {
                let byte = bytes[position]
                if byte == UInt8(ascii: "<"), isTag(at: position + 1) {
                    readTag()
                } else {
                    position += 1
                    MailText.isSpace(byte) ? appendSpace() : text.append(byte)
                }
            }
        }

        /// Returns true if a `<` before the index begins a tag: a letter, a slash or an exclamation mark follows it.
        private func isTag(at index: Int) -> Bool {
            guard index < bytes.count else { return false }
            return isLetter(bytes[index]) || bytes[index] == UInt8(ascii: "/") || bytes[index] == UInt8(ascii: "!")
        }

        private mutating func readTag() {
            if starts(with: "<!--") {
                skip(past: "-->")
                return
            }
            let start = position + 1
            skip(past: ">")
            let isEnd = bytes[start] == UInt8(ascii: "/")
            let name = bytes[start..<position].drop { $0 == UInt8(ascii: "/") }.prefix { isLetter($0) || isDigit($0) }
            switch String(decoding: name, as: UTF8.self).lowercased() {
            case "br": appendBreak(upTo: 2)
            case "div", "tr", "li": appendBreak(upTo: 1)
            case "p", "table", "ul", "ol", "blockquote", "h1", "h2", "h3", "h4", "h5", "h6":
                appendBreak(upTo: 2, twice: true)
            case "script" where !isEnd: skipElement(endingWith: "</script")
            case "style" where !isEnd: skipElement(endingWith: "</style")
            case "title" where !isEnd: skipElement(endingWith: "</title")
            default: break
            }
        }

        private mutating func skipElement(endingWith end: StaticString) {
            skip(past: end)
            skip(past: ">")
        }

        /// Moves past the next occurrence of a text, or to the end.
        private mutating func skip(past end: StaticString) {
            while position < bytes.count {
                if starts(with: end) {
                    position += end.utf8CodeUnitCount
                    return
                }
                position += 1
            }
        }

        private func starts(with expected: StaticString) -> Bool {
            guard bytes.count - position >= expected.utf8CodeUnitCount else { return false }
            return expected.withUTF8Buffer { expected in
                expected.indices.allSatisfy { bytes[position + $0].lowercasedASCII == expected[$0] }
            }
        }

        private mutating func appendSpace() {
            guard let last = text.last, !MailText.isSpace(last) else { return }
            text.append(UInt8(ascii: " "))
        }

        private mutating func appendBreak(upTo limit: Int, twice: Bool = false) {
            while text.last == UInt8(ascii: " ") { text.removeLast() }
            guard !text.isEmpty else { return }
            let present = text.reversed().prefix { $0 == UInt8(ascii: "\n") }.count
            let added = max(0, min(limit - present, twice ? 2 : 1))
            text.append(contentsOf: repeatElement(UInt8(ascii: "\n"), count: added))
        }

        private func isLetter(_ byte: UInt8) -> Bool {
            (0x61...0x7A).contains(byte.lowercasedASCII)
        }

        private func isDigit(_ byte: UInt8) -> Bool {
            (0x30...0x39).contains(byte)
        }
    }
}
