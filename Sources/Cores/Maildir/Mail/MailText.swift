/// How decoded bytes become the text that a person reads.
enum MailText {
    /// A text of lines: every kind of line end is a line feed, invalid UTF-8 is repaired, and NUL, a byte order mark
    /// and white space at the end are dropped.
    static func lines(_ bytes: [UInt8]) -> String {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var previous: UInt8 = 0
        for byte in bytes {
            switch byte {
            case 0: break
            case lineFeed where previous == carriageReturn: break
            case carriageReturn: result.append(lineFeed)
            default: result.append(byte)
            }
            previous = byte
        }
        while let last = result.last, isSpace(last) { result.removeLast() }
        return String(decoding: result.trimmingPrefix([0xEF, 0xBB, 0xBF]), as: UTF8.self)
    }

    /// A text of one line: each run of white space and control characters is one space, and none is at either end.
    static func line(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        var space = false
        for scalar in text.unicodeScalars {
            if scalar.properties.generalCategory == .control || scalar == " " {
                space = true
                continue
            }
            if space, !result.isEmpty { result.append(" ") }
            space = false
            result.append(scalar)
        }
        return String(result)
    }

    static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || (0x09...0x0D).contains(byte)
    }

    private static let lineFeed = UInt8(ascii: "\n")
    private static let carriageReturn = UInt8(ascii: "\r")
}
