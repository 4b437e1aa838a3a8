internal import Platform

/// Reads a file line by line in 64 KiB of memory, however long its lines are.
final class MailLines {
    /// One line of the file.
    struct Line {
        /// The offset of its begin in the file.
        let start: Int
        /// The line without its line feed: all of it, or the first 64 KiB of a longer one. Valid until the next line is
        /// read.
        let bytes: UnsafeRawBufferPointer

        /// True if the line is empty or has only a carriage return.
        var isEmpty: Bool { bytes.isEmpty || (bytes.count == 1 && bytes[0] == UInt8(ascii: "\r")) }
    }

    let file: OpenFile
    /// The end of the file.
    let end: Int

    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
    /// The part of the buffer that was not returned yet.
    private var unread = 0..<0
    /// The offset of the end of the unread bytes in the file.
    private var readEnd = 0
    /// True if the unread bytes begin in the middle of a line that was already returned.
    private var isInsideLine = false

    init(_ file: OpenFile, byteCount: Int) {
        self.file = file
        end = byteCount
    }

    deinit {
        buffer.deallocate()
    }

    /// The offset of the next line; in a line that is longer than the buffer, an offset within it.
    var position: Int { readEnd - unread.count }

    /// Returns the next line; nil at the end of the file, which may come early if another program truncates it.
    func next() throws(SystemCallError) -> Line? {
        while true {
            let start = position
            if let feed = firstFeed() {
                let bytes = UnsafeRawBufferPointer(rebasing: buffer[unread.lowerBound..<feed])
                unread = (feed + 1)..<unread.upperBound
                let wasInside = isInsideLine
                isInsideLine = false
                if wasInside { continue }
                return Line(start: start, bytes: bytes)
            }
            let isFull = unread.count == buffer.count
            if !isFull, try fill() { continue }
            let bytes = UnsafeRawBufferPointer(rebasing: buffer[unread])
            unread = unread.upperBound..<unread.upperBound
            let wasInside = isInsideLine
            isInsideLine = isFull
            if bytes.isEmpty { return nil }
            if !wasInside { return Line(start: start, bytes: bytes) }
        }
    }

    private func firstFeed() -> Int? {
        UnsafeRawBufferPointer(rebasing: buffer[..<unread.upperBound])
            .firstOffset(of: UInt8(ascii: "\n"), from: unread.lowerBound)
    }

    /// Reads more bytes after the unread ones, which must leave space.
    ///
    /// - Returns: False at the end of the file.
    private func fill() throws(SystemCallError) -> Bool {
        if unread.lowerBound > 0 {
            let rest = UnsafeRawBufferPointer(rebasing: buffer[unread])
            buffer.copyMemory(from: rest)
            unread = 0..<rest.count
        }
        let free = UnsafeMutableRawBufferPointer(rebasing: buffer[unread.upperBound...].prefix(end - readEnd))
        guard !free.isEmpty else { return false }
        let count = try file.read(into: free, at: readEnd)
        unread = unread.lowerBound..<(unread.upperBound + count)
        readEnd += count
        return count > 0
    }
}
