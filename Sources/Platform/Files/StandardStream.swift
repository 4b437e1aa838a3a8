internal import Glibc

/// A stream that the program inherited from its parent. Its calls block.
package enum StandardStream: Int32 {
    case input = 0
    case output = 1
    case error = 2

    /// Writes all of `bytes`.
    package func write(_ bytes: [UInt8]) throws(SystemCallError) {
        try bytes.withUnsafeBytes { bytes in Result { () throws(SystemCallError) in try write(bytes) } }.get()
    }

    /// Writes a text without copying it, because a text may have megabytes.
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

    /// True if the stream is a terminal.
    package var isTerminal: Bool { isatty(rawValue) == 1 }

    /// The number of columns of the terminal that it is; nil if it is no terminal, or one that has no size.
    package var columnCount: Int? { size.flatMap { $0.ws_col > 0 ? Int($0.ws_col) : nil } }

    /// The number of rows of the terminal that it is; nil if it is no terminal, or one that has no size.
    package var rowCount: Int? { size.flatMap { $0.ws_row > 0 ? Int($0.ws_row) : nil } }

    private var size: winsize? {
        var size = winsize()
        return ioctl(rawValue, UInt(TIOCGWINSZ), &size) == 0 ? size : nil
    }

    /// Makes the terminal show what is typed, or not.
    ///
    /// Does nothing if the stream is no terminal, and in a process of the background: the kernel would stop it.
    package func setEcho(_ isOn: Bool) {
        var settings = termios()
        guard tcgetpgrp(rawValue) == getpgrp(), tcgetattr(rawValue, &settings) == 0 else { return }
        if isOn { settings.c_lflag |= tcflag_t(ECHO) } else { settings.c_lflag &= ~tcflag_t(ECHO) }
        tcsetattr(rawValue, TCSANOW, &settings)
    }

    /// Blocks until the reader of a pipe, a socket or a terminal has gone.
    ///
    /// - Returns: Whether the reader has gone; for a file, false at once.
    package func waitForEndOfReader() -> Bool {
        // `poll` reports the end of the reader without a request: POLLERR for a pipe, POLLHUP for a socket and a
        // terminal.
        var entry = pollfd(fd: rawValue, events: 0, revents: 0)
        while poll(&entry, 1, -1) < 0, errno == EINTR {}
        return entry.revents & Int16(POLLERR | POLLHUP) != 0
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
