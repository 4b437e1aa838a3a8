/// The first line that an Executor printed, or as much of it as is kept.
struct PrintedLine: Hashable, Sendable {
    /// JSON that was cut is JSON again: its last text ends with “…”, and what was open is closed.
    let text: String
    /// True if the line was longer.
    let isCut: Bool

    /// - Parameters:
    ///   - printed: What was printed, to the most that is kept.
    ///   - hadMore: Whether more was printed than that.
    /// - Returns: Nil when there is no line.
    init?(_ printed: [UInt8], hadMore: Bool) {
        let lineFeed = UInt8(ascii: "\n")
        let start = printed.firstIndex { $0 != lineFeed } ?? printed.endIndex
        guard start < printed.endIndex else { return nil }
        let end = printed[start...].firstIndex(of: lineFeed)
        let line = Array(printed[start..<(end ?? printed.endIndex)])
        isCut = end == nil && hadMore
        let kept = isCut ? CutJSON.completed(line) ?? Self.withoutHalfACharacter(line) : line
        text = String(decoding: kept, as: UTF8.self)
    }

    /// The line of a program that runs on; nil while there may be more of it.
    init?(complete printed: [UInt8], hadMore: Bool) {
        let lineFeed = UInt8(ascii: "\n")
        let line = printed.drop { $0 == lineFeed }
        guard hadMore || line.contains(lineFeed) else { return nil }
        self.init(printed, hadMore: hadMore)
    }

    /// The bytes without those at the end that only begin a character.
    private static func withoutHalfACharacter(_ bytes: [UInt8]) -> [UInt8] {
        guard let start = bytes.lastIndex(where: { $0 & 0xc0 != 0x80 }) else { return bytes }
        return start + CutJSON.characterByteCount(bytes[start]) > bytes.count ? Array(bytes[..<start]) : bytes
    }
}
