internal import ProgramOutput

/// A JSON text that was cut off somewhere.
enum CutJSON {
    /// The state of reading the text up to a byte.
    private struct Scan {
        /// The bytes that close the open objects and lists, the innermost last.
        var closers: [UInt8] = []
        var isInString = false
        /// True if the next string is the name of a member, or if the last string was one.
        var isName = false
        /// The last place at which the text can be ended, and the bytes that end it there.
        var end: (count: Int, ending: String, closers: [UInt8])?

        mutating func mayEnd(at count: Int, with ending: String = "") { end = (count, ending, closers) }
    }

    /// Returns valid JSON from the beginning of a cut text: up to the last place at which it can end, with “…” in a cut
    /// string and the closing characters of all open values. Nil for bytes that do not begin an object or a list.
    static func completed(_ bytes: [UInt8]) -> [UInt8]? {
        var scan = Scan()
        var index = 0
        while index < bytes.count {
            let count = scan.isInString ? step(inString: &scan, bytes, index) : step(&scan, bytes[index], index)
            guard index + count <= bytes.count else { break }
            index += count
        }
        guard let end = scan.end, !end.closers.isEmpty else { return nil }
        let completed = bytes[..<end.count] + Array(end.ending.utf8) + end.closers.reversed()
        return JSONGrammar.accepts(Array(completed)) ? Array(completed) : nil
    }

    /// Reads a character of a string, and returns how many bytes it has.
    private static func step(inString scan: inout Scan, _ bytes: [UInt8], _ index: Int) -> Int {
        let byte = bytes[index]
        if byte == UInt8(ascii: "\"") {
            scan.isInString = false
            if !scan.isName { scan.mayEnd(at: index + 1) }
            return 1
        }
        if !scan.isName, !isLowSurrogate(bytes[index...]) { scan.mayEnd(at: index, with: "…\"") }
        guard byte == UInt8(ascii: "\\") else { return characterByteCount(byte) }
        return index + 1 < bytes.count && bytes[index + 1] == UInt8(ascii: "u") ? 6 : 2
    }

    /// Reads a byte between strings.
    private static func step(_ scan: inout Scan, _ byte: UInt8, _ index: Int) -> Int {
        switch byte {
        case UInt8(ascii: "\""): scan.isInString = true
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            scan.closers.append(byte + 2)
            scan.isName = byte == UInt8(ascii: "{")
        case UInt8(ascii: "}"), UInt8(ascii: "]"):
            _ = scan.closers.popLast()
            scan.isName = false
            scan.mayEnd(at: index + 1)
        case UInt8(ascii: ":"): scan.isName = false
        case UInt8(ascii: ","):
            scan.mayEnd(at: index)
            scan.isName = scan.closers.last == UInt8(ascii: "}")
        default: break
        }
        return 1
    }

    /// Returns whether bytes begin with the escape of the second half of a character, which is invalid without the
    /// first.
    private static func isLowSurrogate(_ bytes: ArraySlice<UInt8>) -> Bool {
        let escape = bytes.prefix(4).map { $0 | 0x20 }
        return escape.count == 4 && escape[..<3] == [UInt8(ascii: "\\") | 0x20, UInt8(ascii: "u"), UInt8(ascii: "d")]
            && (UInt8(ascii: "c")...UInt8(ascii: "f")).contains(escape[3])
    }

    /// Returns the number of bytes of the character that begins with a byte.
    static func characterByteCount(_ first: UInt8) -> Int {
        switch first {
        case 0xc0..<0xe0: 2
        case 0xe0..<0xf0: 3
        case 0xf0...: 4
        default: 1
        }
    }
}
