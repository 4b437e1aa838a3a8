/// The first line that an Executor printed, up to the limit that is kept.
struct PrintedLine: Hashable, Sendable {
    /// JSON that was cut is completed: its last text ends with “…”, and its open values are closed.
    let text: String
    /// True if the line was longer.
    let isCut: Bool

    /// Finds the first line that is not empty in what an Executor has printed.
    ///
    /// - Parameters:
    ///   - printed: The printed bytes, up to the limit.
    ///   - hadMore: True if more was printed.
    /// - Returns: Nil if there is no line.
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

    /// Makes the line of a program that still runs; nil while the line may not be complete.
    init?(complete printed: [UInt8], hadMore: Bool) {
        let lineFeed = UInt8(ascii: "\n")
        let line = printed.drop { $0 == lineFeed }
        guard hadMore || line.contains(lineFeed) else { return nil }
        self.init(printed, hadMore: hadMore)
    }

    /// Returns the bytes without an incomplete character at the end.
    private static func withoutHalfACharacter(_ bytes: [UInt8]) -> [UInt8] {
        guard let start = bytes.lastIndex(where: { $0 & 0xc0 != 0x80 }) else { return bytes }
        return start + CutJSON.characterByteCount(bytes[start]) > bytes.count ? Array(bytes[..<start]) : bytes
    }
}
