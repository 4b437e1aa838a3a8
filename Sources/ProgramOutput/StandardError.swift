/// Standard error, for messages to people.
package enum StandardError {
    /// Writes one line. Characters that act on a terminal are escaped, and a line of more than
    /// ``ProgramText/maximumLineByteCount`` bytes is cut.
    package static func write(_ line: String) {
        // There is nobody left to tell when this fails.
        let shown = ProgramText.oneLine(line, upTo: ProgramText.maximumLineByteCount)
        try? StandardStream.error.write(Array((shown + "\n").utf8))
    }

    /// Writes several lines, such as how a command is used.
    package static func write(lines: String) {
        try? StandardStream.error.write(Array((ProgramText.lines(lines) + "\n").utf8))
    }
}
