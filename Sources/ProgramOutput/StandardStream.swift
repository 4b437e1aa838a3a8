internal import Glibc
package import Platform

/// A stream that the program got from its parent. Its calls block.
package enum StandardStream: Int32 {
    case input = 0
    case output = 1
    case error = 2

    /// Writes all of `bytes`.
    package func write(_ bytes: [UInt8]) throws(SystemCallError) {
        try bytes.withUnsafeBytes { bytes in Result { () throws(SystemCallError) in try write(bytes) } }.get()
    }

    /// Writes a text, without a copy of it: it may have megabytes.
    package func write(text: String) throws(SystemCallError) {
        var text = text
        try text.withUTF8 { text in
            Result { () throws(SystemCallError) in try write(UnsafeRawBufferPointer(text)) }
        }.get()
    }

    private func write(_ bytes: UnsafeRawBufferPointer) throws(SystemCallError) {
        var written = 0
        while written < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[written...])
            let count = Glibc.write(rawValue, rest.baseAddress, rest.count)
            if count < 0 {
                let number = errno
                if number == EINTR { continue }
                if number == EAGAIN {
                    // Another process that shares the stream has made it non-blocking.
                    var descriptor = pollfd(fd: rawValue, events: Int16(POLLOUT), revents: 0)
                    poll(&descriptor, 1, -1)
                    continue
                }
                throw SystemCallError("write", number: number, at: description)
            }
            written += count
        }
    }

    /// Reads to the end, but at most `count` bytes.
    package func read(upTo count: Int) throws(SystemCallError) -> [UInt8] {
        try OpenFile.read(from: rawValue, upTo: count, at: description)
    }

    /// The stream's name for messages.
    private var description: String {
        switch self {
        case .input: "standard input"
        case .output: "standard output"
        case .error: "standard error"
        }
    }
}

/// Standard error, for messages to people.
package enum StandardError {
    /// Writes one line. Characters that act on a terminal are escaped, and a line of more than
    /// ``ProgramText/maximumLineByteCount`` bytes is cut.
    package static func write(_ line: String) {
        // A failure cannot be reported anywhere.
        let shown = ProgramText.oneLine(line, upTo: ProgramText.maximumLineByteCount)
        try? StandardStream.error.write(Array((shown + "\n").utf8))
    }

    /// More lines than any command's usage has.
    private static let maximumLineCount = 200

    /// Writes several lines, such as how a command is used, each bounded as that of ``write(_:)``.
    package static func write(lines: String) {
        let shown = ProgramText.lines(
            lines, atMost: maximumLineCount, upTo: ProgramText.maximumLineByteCount)
        try? StandardStream.error.write(Array((shown + "\n").utf8))
    }
}

/// One line of standard error that says how far a command is. For terminals only.
package enum ProgressBar {
    private static let width = 40

    package static func show(_ done: Int, of count: Int, at name: String) {
        let filled = count == 0 ? width : width * done / count
        let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: width - filled)
        write("\r\u{1b}[K\(bar) \(done)/\(count) \(name)")
    }

    package static func clear() {
        write("\r\u{1b}[K")
    }

    private static func write(_ text: String) {
        // A failure cannot be reported anywhere.
        try? StandardStream.error.write(Array(text.utf8))
    }
}
