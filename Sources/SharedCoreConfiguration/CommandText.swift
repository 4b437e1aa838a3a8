internal import Platform

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
