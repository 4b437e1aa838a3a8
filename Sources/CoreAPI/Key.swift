/// The name of an entry in a store: 1 to 512 bytes of UTF-8.
///
/// A key is its bytes. Two keys are equal only when their bytes are, so a composed and a decomposed "é" are two keys,
/// and no character (`/`, `..`, NUL, an emoji) has a meaning outside of the store. Inside, `/` separates the parts of a
/// path, which is what ``KeyPrefix`` selects by.
///
/// Source: contract S2.
public struct Key: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The longest key that a store accepts, in bytes of UTF-8.
    public static let maximumByteCount = 512

    /// The key as text.
    public let text: String

    /// Makes a key of `text`.
    ///
    /// - Throws: ``SharedCoreError/Code/invalidArgument`` when `text` is empty or longer than ``maximumByteCount`` bytes.
    public init(_ text: String) throws(SharedCoreError) {
        self.text = try ValidatedName.contiguous(text, of: "key")
    }

    init(unchecked text: String) {
        self.text = text
    }

    public var description: String { text }

    public static func == (left: Key, right: Key) -> Bool {
        UTF8Bytes.equal(left.text, right.text)
    }

    public static func < (left: Key, right: Key) -> Bool {
        UTF8Bytes.precedes(left.text, right.text)
    }

    public func hash(into hasher: inout Hasher) {
        UTF8Bytes.hash(text, into: &hasher)
    }
}

extension Key: ExpressibleByStringLiteral {
    /// A key written in the source. It stops the program when it breaks the rules of ``Key``, as any wrong literal does.
    public init(stringLiteral value: StaticString) {
        let text = value.description
        precondition(
            (1...Key.maximumByteCount).contains(text.utf8.count), "A key literal has 1 to 512 bytes: \(text)")
        self.init(unchecked: text)
    }
}

/// The one check that keys and notification names share.
enum ValidatedName {
    static func contiguous(_ text: String, of kind: String) throws(SharedCoreError) -> String {
        var contiguous = text
        contiguous.makeContiguousUTF8()
        let count = contiguous.utf8.count
        guard count > 0 else {
            throw SharedCoreError(.invalidArgument, "A \(kind) cannot be empty.", at: "\(kind)")
        }
        guard count <= Key.maximumByteCount else {
            throw SharedCoreError(
                .invalidArgument,
                "A \(kind) has at most \(Key.maximumByteCount) bytes of UTF-8, this one has \(count).",
                at: "\(kind) \(text.prefix(32))…")
        }
        return contiguous
    }
}
