internal import Platform

/// Commands in a configuration: words separated by spaces, with optional quotes. No shell is involved, so no other
/// character has a special meaning.
package enum CommandText {
    package static let expectation = "a command with its arguments; put an argument with spaces in quotes"

    /// Returns the text of a command's words.
    package static func write(_ words: [String]) -> String {
        words.map { word in
            let scalars = word.unicodeScalars
            guard word.isEmpty || scalars.contains(where: { $0.properties.isWhitespace || $0 == "\"" || $0 == "'" })
            else {
                return word
            }
            return scalars.split(separator: "\"", omittingEmptySubsequences: false).map { "\"\(String($0))\"" }.joined(
                separator: "'\"'")
        }.joined(separator: " ")
    }

    /// Parses the words; nil if there are none or a quote is not closed.
    ///
    /// A quote and a space are scalars, not characters: a mark that follows one makes one character with it.
    package static func parse(_ text: String) -> [String]? {
        var words: [String] = []
        var word: String.UnicodeScalarView?
        var quote: Unicode.Scalar?
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\0": return nil
            case quote: quote = nil
            case "\"" where quote == nil, "'" where quote == nil:
                quote = scalar
                word = word ?? String.UnicodeScalarView()
            case _ where quote == nil && scalar.properties.isWhitespace:
                if let ended = word { words.append(String(ended)) }
                word = nil
            default:
                word = word ?? String.UnicodeScalarView()
                word?.append(scalar)
            }
        }
        if let word { words.append(String(word)) }
        guard quote == nil, let first = words.first, !first.isEmpty else { return nil }
        return words
    }
}
