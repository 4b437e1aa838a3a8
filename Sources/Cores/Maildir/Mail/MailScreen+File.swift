internal import Platform

extension MailScreen {
    /// Counts the lines of a file's first bytes.
    ///
    /// - Returns: Whether the file may be parsed.
    static func passes(_ file: OpenFile, byteCount: Int, limits: Limits = Limits()) throws(SystemCallError) -> Bool {
        var screen = MailScreen(limits: limits)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
        defer { buffer.deallocate() }
        var offset = 0
        var isInsideLine = false
        while offset < byteCount, screen.isPassed {
            let wanted = UnsafeMutableRawBufferPointer(rebasing: buffer[..<min(buffer.count, byteCount - offset)])
            let count = try file.read(into: wanted, at: offset)
            guard count > 0 else { break }
            let bytes = UnsafeRawBufferPointer(rebasing: wanted[..<count])
            // Only whole lines, so that each is judged by its beginning; a line larger than the buffer comes in pieces.
            let isLast = offset + count == byteCount || count < wanted.count
            let whole = isLast ? count : bytes.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? count
            screen.count(UnsafeRawBufferPointer(rebasing: bytes[..<whole]), isInsideLine: isInsideLine)
            isInsideLine = bytes[whole - 1] != UInt8(ascii: "\n")
            offset += whole
        }
        return screen.isPassed
    }
}
