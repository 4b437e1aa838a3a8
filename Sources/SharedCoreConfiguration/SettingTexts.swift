internal import Platform

/// Texts that must not be shown, because they may be secrets.
package enum SecretText {
    /// How many characters of Z85 a key of CURVE has (RFC 32 of ZeroMQ).
    private static let keyLength = 40
    private static let alphabet = Set(
        "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#".utf8)

    /// Returns true if a text has the form of a key, and is not the absolute path of an existing file.
    package static func isKey(_ text: String) -> Bool {
        let word = text.utf8.drop(while: isSpace).reversed().drop(while: isSpace)
        guard word.count == keyLength, word.allSatisfy(alphabet.contains) else { return false }
        return !text.isAbsolutePath || (try? FileStatus(ofPath: text)) == nil
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || (9...13).contains(byte) }
}

/// Amounts of memory as people write them: a number with `KiB`, `MiB` or `GiB`; a bare number means bytes.
package enum ByteCountText {
    package static let expectation = "an amount such as 24MiB, 1MiB or more (a bare number means bytes), or “none”"

    /// The maximum value of a setting, so that a sum of a few values does not overflow 64 bits.
    package static let maximum: UInt64 = 1 << 60

    package static func parse(_ text: String) -> UInt64? {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        guard let count = UInt64(digits) else { return nil }
        let shift: UInt64
        switch text.dropFirst(digits.count) {
        case "": shift = 0
        case "KiB": shift = 10
        case "MiB": shift = 20
        case "GiB": shift = 30
        default: return nil
        }
        let (product, overflow) = count.multipliedReportingOverflow(by: 1 << shift)
        return overflow || product == 0 || product > maximum ? nil : product
    }
}

/// Commands in a configuration: words separated by spaces, with optional quotes. No shell is involved, so no other
/// character has a special meaning.
package enum CommandText {
    package static let expectation = "a command with its arguments; put an argument with spaces in quotes"

    /// Returns the text of a command's words.
    package static func write(_ words: [String]) -> String {
        words.map { word in
            guard word.isEmpty || word.contains(where: { $0.isWhitespace || $0 == "\"" || $0 == "'" }) else {
                return word
            }
            return word.split(separator: "\"", omittingEmptySubsequences: false).map { "\"\($0)\"" }.joined(
                separator: "'\"'")
        }.joined(separator: " ")
    }

    /// Parses the words; nil if there are none or a quote is not closed.
    package static func parse(_ text: String) -> [String]? {
        var words: [String] = []
        var word: String?
        var quote: Character?
        for character in text {
            switch character {
            case "\0": return nil
            case quote: quote = nil
            case _ where quote != nil: word = (word ?? "") + String(character)
            case "\"", "'":
                quote = character
                word = word ?? ""
            case _ where character.isWhitespace:
                if let ended = word { words.append(ended) }
                word = nil
            default: word = (word ?? "") + String(character)
            }
        }
        if let word { words.append(word) }
        guard quote == nil, let first = words.first, !first.isEmpty else { return nil }
        return words
    }
}

/// The rule for the names of groups: one plain part of a path, so that no name leaves the directory of groups.
package enum GroupName {
    package static let maximumByteCount = 64

    package static func isValid(_ name: String) -> Bool {
        guard (1...maximumByteCount).contains(name.utf8.count), let first = name.utf8.first else { return false }
        return isAlphanumeric(first) && name.utf8.allSatisfy { isAlphanumeric($0) || punctuation.contains($0) }
    }

    private static let punctuation = Array("._-".utf8)

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }
}
