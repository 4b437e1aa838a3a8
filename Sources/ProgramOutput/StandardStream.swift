internal import Glibc
package import Platform

/// A stream that the program was given by whoever started it. Its calls block.
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
                    // Whoever shares the stream with us has made it non-blocking.
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
        var content: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while content.count < count {
            let received = Glibc.read(rawValue, &buffer, min(buffer.count, count - content.count))
            if received < 0 {
                let number = errno
                if number == EINTR { continue }
                throw SystemCallError("read", number: number, at: description)
            }
            if received == 0 { break }
            content += buffer[..<received]
        }
        return content
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
