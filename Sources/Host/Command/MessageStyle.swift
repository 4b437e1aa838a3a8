/// Converts messages of the argument parser to the style of this program's messages.
enum MessageStyle {
    private static let beginning = "Error: "
    private static let closers: Set<Character> = [" ", "\n", ".", ",", ";", ":", "?", "!", ")"]

    /// Replaces the parser's prefix `Error: ` by `sharedcore: `, and single quotes around words by “ ”.
    static func applied(to message: String) -> String {
        quoted(message.hasPrefix(beginning) ? "sharedcore: " + message.dropFirst(beginning.count) : message)
    }

    /// Replaces single quotes around words by the quotes of this program's messages. Keeps apostrophes and quotes
    /// without an end.
    static func quoted(_ text: String) -> String {
        var result = ""
        var before: Character = " "
        var rest = text[...]
        while let character = rest.popFirst() {
            if character == "'", before.isWhitespace || before == "(", let end = closingQuote(in: rest) {
                result += "“" + rest[..<end] + "”"
                rest = rest[rest.index(after: end)...]
                before = "”"
            } else {
                result.append(character)
                before = character
            }
        }
        return result
    }

    /// Returns the place of the closing quote in a text: the next character does not continue a word.
    private static func closingQuote(in text: Substring) -> Substring.Index? {
        text.indices.first { index in
            guard text[index] == "'" else { return false }
            let next = text.index(after: index)
            return next == text.endIndex || closers.contains(text[next])
        }
    }
}
