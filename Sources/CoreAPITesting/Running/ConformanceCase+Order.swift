extension ConformanceCase {
    /// Where the case stands in the contract: by part, by number, by letter.
    var place: (part: Int, number: Int, letter: String) {
        let parts: [Character] = ["S", "W", "N", "L", "C", "M", "E"]
        let part = id.first.flatMap { parts.firstIndex(of: $0) } ?? parts.count
        return (part, Int(rule.dropFirst()) ?? 0, String(id.dropFirst(rule.count)))
    }
}
