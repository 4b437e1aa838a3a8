package import CoreAPI
internal import Synchronization

/// The name of one message of a queue, as one part of a key: at most 256 bytes of printable ASCII without `/`.
///
/// Any text has a name, and two texts have the same name only if their bytes are equal.
public struct ItemName: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The longest name, in bytes. The path of a queue and a name always fit into a key together.
    public static let maximumByteCount = 256

    /// The name as part of a key.
    public let text: String

    /// Makes the name of a text that the caller chose, such as a call-id.
    public init(_ text: String) {
        self.text = PathPart.text(for: text, maximumByteCount: Self.maximumByteCount)
    }

    /// Makes a name that was read from a key.
    package init(part: some StringProtocol) {
        self.text = String(part)
    }

    /// Returns a name that is unique in the group and sorts after all names that this process created before for
    /// `session`.
    package static func numbered(by session: SessionID) -> ItemName {
        // One counter for the process, because several queues may have one path and one session.
        let number = counter.add(1, ordering: .relaxed).newValue
        return ItemName(part: "%n" + session.rawValue.hexadecimal + "-" + number.hexadecimal)
    }

    public var description: String { text }

    public static func < (left: ItemName, right: ItemName) -> Bool {
        left.text < right.text
    }

    private static let counter = Atomic<UInt64>(0)
}

/// Any text as one part of a key's path: printable ASCII without `/`.
///
/// Two texts have the same part only if their bytes are equal. A byte that is not allowed in a part is written as `%`
/// and two hexadecimal digits. If the part would be empty or too long, it is the text's SHA-256 instead. That form has a
/// `%` without a following digit, so the two forms cannot be confused.
package enum PathPart {
    /// Returns the part for a text.
    ///
    /// - Parameter maximumByteCount: The longest part; at least 72, the length of a hash.
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
