/// Lines of a table on a terminal that is narrower than they are.
enum LineWrap {
    /// Returns a line as lines of at most `width` characters, broken at spaces. The second and all others begin below the
    /// second column of the line; a word that is too wide has a line of its own.
    static func lines(of line: String, width: Int) -> [String] {
        let indent = String(repeating: " ", count: min(indentation(of: line), width / 2))
        var lines: [String] = []
        var rest = line[...]
        while rest.count > width {
            let start = rest.firstIndex { $0 != " " } ?? rest.startIndex
            let room = rest[start..<rest.index(rest.startIndex, offsetBy: width + 1)]
            guard let end = room.lastIndex(of: " ") ?? rest[start...].firstIndex(of: " ") else { break }
            lines.append(String(rest[..<end]).trimmingTrailingSpaces)
            let words = rest[end...].drop { $0 == " " }
            if words.isEmpty { return lines }
            rest = indent + words
        }
        return lines + [String(rest)]
    }

    /// The column in which the second part of a line begins, behind two spaces or more; two more than the line's own where
    /// there is none.
    private static func indentation(of line: String) -> Int {
        let leading = line.prefix { $0 == " " }.count
        let text = line.dropFirst(leading)
        guard let gap = text.firstRange(of: "  ") else { return leading + 2 }
        return leading
            + text.distance(
                from: text.startIndex, to: text[gap.lowerBound...].firstIndex { $0 != " " } ?? gap.upperBound)
    }
}

extension String {
    fileprivate var trimmingTrailingSpaces: String {
        var text = self
        while text.last == " " { text.removeLast() }
        return text
    }
}
