/// Any text as one part of a key's path: printable ASCII without `/`.
///
/// Two texts give one part only when their bytes are equal. What cannot stand in a part of a path is written as `%` and
/// two hexadecimal digits; a part that would be empty or too long is the text's SHA-256 instead, marked by a `%` that no
/// digit follows, so that neither form can be taken for the other.
package enum PathPart {
    /// The part that stands for a text.
    ///
    /// - Parameter maximumByteCount: The longest part; at least 72, which a hash takes.
    package static func text(for text: String, maximumByteCount: Int) -> String {
        let escaped = escaped(text, upTo: maximumByteCount)
        guard escaped.isEmpty || escaped.utf8.count > maximumByteCount else { return escaped }
        return "%sha256-" + SHA256(of: text.utf8).hexadecimal
    }

    private static func escaped(_ text: String, upTo maximumByteCount: Int) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        for byte in text.utf8 {
            // Past the limit only the hash counts.
            if bytes.count > maximumByteCount { break }
            switch byte {
            case UInt8(ascii: "/"), UInt8(ascii: "%"), 0...0x20, 0x7f...:
                bytes.append(UInt8(ascii: "%"))
                bytes.append(digits[Int(byte >> 4)])
                bytes.append(digits[Int(byte & 15)])
            default:
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
