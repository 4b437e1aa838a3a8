internal import Glibc

/// A stream that the program was given by whoever started it. Its calls block.
enum StandardStream: Int32 {
    case input = 0
    case output = 1
    case error = 2

    /// Writes all of `bytes`; false when the stream takes no more.
    func write(_ bytes: [UInt8]) -> Bool {
        var written = 0
        while written < bytes.count {
            let count = bytes[written...].withUnsafeBytes { Glibc.write(rawValue, $0.baseAddress, $0.count) }
            if count < 0 {
                if errno == EINTR { continue }
                if errno == EAGAIN {
                    // Whoever shares the stream with us has made it non-blocking.
                    var descriptor = pollfd(fd: rawValue, events: Int16(POLLOUT), revents: 0)
                    poll(&descriptor, 1, -1)
                    continue
                }
                return false
            }
            written += count
        }
        return true
    }

    /// Reads to the end, but at most `count` bytes.
    func read(upTo count: Int) -> [UInt8] {
        var content: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while content.count < count {
            let received = Glibc.read(rawValue, &buffer, min(buffer.count, count - content.count))
            if received < 0, errno == EINTR { continue }
            if received <= 0 { break }
            content += buffer[..<received]
        }
        return content
    }
}

/// Standard error, for messages to people.
enum StandardError {
    static func write(_ line: String) {
        _ = StandardStream.error.write(Array((line + "\n").utf8))
    }
}
