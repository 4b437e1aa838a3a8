/// The bytes of a stream as lines of limited length.
struct LineBuffer {
    /// The longest line, without its end.
    let maximumByteCount: Int
    private var bytes: [UInt8] = []
    /// The offset at which the next line begins, and the offset up to which its end was searched for.
    private var start = 0
    private var searched = 0

    init(maximumByteCount: Int) {
        self.maximumByteCount = maximumByteCount
    }

    /// The number of bytes that wait, in lines and after the last one.
    var byteCount: Int { bytes.count - start }

    mutating func append(_ part: [UInt8]) {
        if start > 0 {
            bytes.removeFirst(start)
            searched -= start
            start = 0
        }
        bytes += part
    }

    /// Removes and returns the next line; nil if none is complete.
    mutating func next() -> [UInt8]? {
        guard let end = bytes[searched...].firstIndex(of: UInt8(ascii: "\n")) else {
            searched = bytes.count
            return nil
        }
        defer { (start, searched) = (end + 1, end + 1) }
        return Array(bytes[start..<end])
    }

    /// True if the incomplete next line is too long already. Valid only after ``next()`` has returned nil.
    var isTooLong: Bool { byteCount > maximumByteCount }

    /// Removes and returns the bytes of an incomplete line.
    mutating func takeRest() -> [UInt8] {
        defer { (bytes, start, searched) = ([], 0, 0) }
        return Array(bytes[start...])
    }
}
