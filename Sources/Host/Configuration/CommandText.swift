/// Commands as people write them in a configuration: words between spaces, of which some are in quotes. No shell is asked,
/// so nothing else means anything.
enum CommandText {
    static let expectation = "a command with its arguments; what holds spaces stands in quotes"

    /// The words; nil when there is none or a quote is left open.
    static func parse(_ text: String) -> [String]? {
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
