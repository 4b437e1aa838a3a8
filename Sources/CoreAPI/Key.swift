/// The name of an entry in a store: 1 to 512 bytes of UTF-8.
///
/// Keys are compared by their bytes, so a composed and a decomposed "é" are two keys. No character (`/`, `..`, NUL, an
/// emoji) has a meaning outside of the store. Within it, `/` separates the parts of a path, by which ``KeyPrefix``
/// selects.
///
/// Source: contract S2.
public struct Key: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The longest key that a store accepts, in bytes of UTF-8.
    public static let maximumByteCount = 512

    /// The key as text.
    public let text: String

    /// Makes a key of `text`.
    ///
    /// Swift treats `Key("a")` as a literal, like `let key: Key = "a"`, and calls ``init(stringLiteral:)``, which
    /// cannot throw and stops the program if the text is invalid. The compiler warns of a `try` before it. `try
    /// Key.init("a")` calls this initializer, and so does a text that is not a literal. Source: SE-0213.
    ///
    /// - Throws: ``SharedCoreError/Code/invalidArgument`` when `text` is empty or longer than ``maximumByteCount``
    ///   bytes.
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
    /// Makes a key written in the source, as `"a"` or `Key("a")`. It stops the program when it breaks the rules of
    /// ``Key``, as any wrong literal does; `try Key.init("a")` throws instead.
    public init(stringLiteral value: StaticString) {
        self.init(
            unchecked: ValidatedName.literal(value, as: "Key") { text throws(SharedCoreError) in try Key(text).text })
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

    /// Returns the text of a literal if `check` does not throw, and stops the program otherwise: a literal cannot
    /// throw.
    static func literal(
        _ literal: StaticString, as type: StaticString, check: (String) throws(SharedCoreError) -> String
    ) -> String {
        do {
            return try check(literal.description)
        } catch {
            preconditionFailure(
                "Invalid literal for \(type): \(error.message) A literal cannot throw, also behind try; try \(type).init(…) does."
            )
        }
    }
}

/// A selection of keys: all of them, or one path and the keys under it.
///
/// The prefix `a/b` selects the key `a/b` and every key that starts with `a/b/`, never `a/bc`. A trailing `/` selects
/// only the keys under the path.
///
/// Source: contract S4.
public struct KeyPrefix: Hashable, Sendable, CustomStringConvertible {
    /// Selects every key.
    public static let all = KeyPrefix(unchecked: "")

    /// The path; empty for all keys.
    public let path: String

    /// Makes a prefix of a path; an empty path selects all keys.
    ///
    /// `KeyPrefix("a")` is a literal and calls ``init(stringLiteral:)``; `try KeyPrefix.init("a")` calls this one, as
    /// ``Key/init(_:)`` explains.
    ///
    /// - Throws: ``SharedCoreError/Code/invalidArgument`` when `path` is longer than a key can be.
    public init(_ path: String) throws(SharedCoreError) {
        self.path = path.isEmpty ? "" : try ValidatedName.contiguous(path, of: "key prefix")
    }

    /// Selects one key and the keys under it.
    public init(_ key: Key) {
        self.path = key.text
    }

    init(unchecked path: String) {
        self.path = path
    }

    public var description: String { path }

    /// Returns whether `key` is selected.
    public func contains(_ key: Key) -> Bool {
        let prefix = path.utf8
        let name = key.text.utf8
        guard !prefix.isEmpty else { return true }
        guard UTF8Bytes.hasPrefix(key.text, path) else { return false }
        if name.count == prefix.count || prefix.last == KeyPrefix.separator { return true }
        return name[name.index(name.startIndex, offsetBy: prefix.count)] == KeyPrefix.separator
    }

    /// Returns true if `key` begins with the prefix's bytes, even if the bytes end within a part of its path. In key
    /// order, all such keys are adjacent.
    package func begins(_ key: Key) -> Bool {
        UTF8Bytes.hasPrefix(key.text, path)
    }

    public static func == (left: KeyPrefix, right: KeyPrefix) -> Bool {
        UTF8Bytes.equal(left.path, right.path)
    }

    public func hash(into hasher: inout Hasher) {
        UTF8Bytes.hash(path, into: &hasher)
    }

    /// The byte that separates the parts of a path.
    static let separator = UInt8(ascii: "/")
}

extension KeyPrefix: ExpressibleByStringLiteral {
    /// Makes a prefix written in the source, as `"a"` or `KeyPrefix("a")`. It stops the program if it is longer than a
    /// key may be; `try KeyPrefix.init("a")` throws instead.
    public init(stringLiteral value: StaticString) {
        self.init(
            unchecked: ValidatedName.literal(value, as: "KeyPrefix") { text throws(SharedCoreError) in
                try KeyPrefix(text).path
            })
    }
}
