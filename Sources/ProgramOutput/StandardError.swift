internal import Platform

/// Standard error, for messages to people.
package enum StandardError {
    /// Writes one line. Characters that act on a terminal are escaped, and a line of more than
    /// ``ProgramText/maximumLineByteCount`` bytes is cut.
    package static func write(_ line: String) {
        // A failure cannot be reported anywhere.
        let shown = ProgramText.inLocale(ProgramText.oneLine(line, upTo: ProgramText.maximumLineByteCount))
        try? StandardStream.error.write(Array((shown + "\n").utf8))
    }

    /// The limit is above the number of lines of any command's usage.
    private static let maximumLineCount = 200

    /// Writes several lines, such as the usage of a command, each with the limit of ``write(_:)``.
    package static func write(lines: String) {
        let shown = ProgramText.inLocale(
            ProgramText.lines(lines, atMost: maximumLineCount, upTo: ProgramText.maximumLineByteCount))
        try? StandardStream.error.write(Array((shown + "\n").utf8))
    }
}

/// One line on standard error with the progress of a command. For terminals only.
package enum ProgressBar {
    private static let width = 40

    package static func show(_ done: Int, of count: Int, at name: String) {
        let filled = count == 0 ? width : width * done / count
        let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: width - filled)
        show("\(bar) \(done)/\(count) \(name)")
    }

    package static func clear() { show("") }

    package static func show(_ text: String) {
        // A failure cannot be reported anywhere.
        try? StandardStream.error.write(Array("\r\u{1b}[K\(ProgramText.inLocale(text))".utf8))
    }
}
