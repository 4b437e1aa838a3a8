/// Checks the encoded words of a header (RFC 2047) before GMime decodes it: a word names a character set, and GMime
/// hands any name to the system's converter, which opens a module for each.
///
/// If a word names no valid character set, or exceeds the maximum number, a space is inserted into its beginning. It is
/// then not an encoded word, and is shown unchanged.
struct EncodedWords {
    /// The maximum number of encoded words in one message whose character set is neither UTF-8 nor US-ASCII and must be
    /// converted. If the words alternate between character sets, each conversion takes up to 75 µs (measured).
    static let convertedCount = 200

    /// The number of words that may still be converted.
    private var rest: Int

    init(convertedCount: Int = Self.convertedCount) {
        rest = convertedCount
    }

    /// Returns the text of a header, in which only the words that may be converted are still encoded.
    mutating func checked(_ text: ArraySlice<UInt8>) -> [UInt8] {
        var checked: [UInt8] = []
        checked.reserveCapacity(text.count)
        // The next question mark, from the place at which the last name was searched: so each byte is passed once.
        var mark = text.startIndex
        for place in text.indices {
            checked.append(text[place])
            guard text[place] == UInt8(ascii: "="), let start = Self.next("?", in: text, from: place + 1) else {
                continue
            }
            if mark < start { mark = text[start...].firstIndex(of: UInt8(ascii: "?")) ?? text.endIndex }
            guard mark < text.endIndex else { continue }
            let isWord = Self.place(behind: mark, in: text).flatMap { Self.next("?", in: text, from: $0 + 1) } != nil
            if isWord, !takes(text[start..<mark]) { checked.append(UInt8(ascii: " ")) }
        }
        return checked
    }

    /// Returns whether words of a character set are converted.
    ///
    /// - Parameter name: The name, including a language after a `*` (RFC 2231, 5).
    private mutating func takes(_ name: ArraySlice<UInt8>) -> Bool {
        let name = name.prefix { $0 != UInt8(ascii: "*") }
        guard CharacterSet.isName(name) else { return false }
        let text = String(decoding: name, as: UTF8.self).lowercased()
        if text == "utf-8" || text == "us-ascii" { return true }
        guard rest > 0 else { return false }
        rest -= 1
        return true
    }

    /// Returns the place after the next character, skipping the characters that are removed from quoted texts: the rest
    /// of `"=\?` begins a word as well.
    private static func next(_ character: Unicode.Scalar, in text: ArraySlice<UInt8>, from start: Int) -> Int? {
        guard start <= text.endIndex, let found = text[start...].firstIndex(where: { !isTakenOut($0) }),
            text[found] == UInt8(ascii: character)
        else { return nil }
        return found + 1
    }

    /// Returns the place of the character after a place, skipping the removed ones.
    private static func place(behind place: Int, in text: ArraySlice<UInt8>) -> Int? {
        text[(place + 1)...].firstIndex { !isTakenOut($0) }
    }

    private static func isTakenOut(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte < 0x20
    }
}
