/// Wraps the lines of a table for a narrow terminal.
enum LineWrap {
    /// Breaks a line at spaces into lines of at most `width` characters. The second line and all later ones begin below
    /// the second column of the first. A word wider than `width` has a line of its own.
    static func lines(of line: String, width: Int) -> [String] {
        let indent = String(repeating: " ", count: min(indentation(of: line), width / 2))
        var lines: [String] = []
        var rest = line[...]
        while rest.count > width {
            let start = rest.firstIndex { $0 != " " } ?? rest.startIndex
            let fitting = rest[start..<rest.index(rest.startIndex, offsetBy: width + 1)]
            guard let end = fitting.lastIndex(of: " ") ?? rest[start...].firstIndex(of: " ") else { break }
            lines.append(String(rest[..<end]).trimmingTrailingSpaces)
            let words = rest[end...].drop { $0 == " " }
            if words.isEmpty { return lines }
            rest = indent + words
        }
        return lines + [String(rest)]
    }

    /// Returns the column of the second part of a line, which two or more spaces separate; if there is none, two more
    /// than the line's indentation.
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
