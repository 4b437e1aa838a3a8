internal import Platform

/// Where the headers of a message are in its file.
enum MailHead {
    /// The number of bytes of a file's headers, without the empty line that ends them.
    ///
    /// - Parameter limit: The largest number of bytes to look at. Headers that go on are taken to their last whole line
    ///   within it: half a line would spoil the rest.
    static func byteCount(of file: OpenFile, limit: Int) throws(SystemCallError) -> Int {
        let bytes = try file.read(count: limit, at: 0)
        let lineFeed = UInt8(ascii: "\n")
        var lineStart = 0
        while let lineEnd = bytes[lineStart...].firstIndex(of: lineFeed) {
            let line = bytes[lineStart..<lineEnd]
            if line.isEmpty || line.elementsEqual([UInt8(ascii: "\r")]) { return lineStart }
            lineStart = lineEnd + 1
        }
        return bytes.count < limit ? bytes.count : lineStart
    }
}
