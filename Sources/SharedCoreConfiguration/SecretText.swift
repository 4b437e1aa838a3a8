internal import Platform

/// Texts that must not be shown, because they may be secrets.
package enum SecretText {
    /// How many characters of Z85 a key of CURVE has (RFC 32 of ZeroMQ).
    private static let keyLength = 40
    private static let alphabet = Set(
        "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#".utf8)

    /// Returns true if a text has the form of a key, and is not the absolute path of an existing file.
    package static func isKey(_ text: String) -> Bool {
        let word = text.utf8.drop(while: isSpace).reversed().drop(while: isSpace)
        guard word.count == keyLength, word.allSatisfy(alphabet.contains) else { return false }
        return !text.isAbsolutePath || (try? FileStatus(ofPath: text)) == nil
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || (9...13).contains(byte) }
}
