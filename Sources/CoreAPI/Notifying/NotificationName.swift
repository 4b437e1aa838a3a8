/// The name of a notification: 1 to 512 bytes of UTF-8, compared by its bytes.
///
/// Source: contract N1, N4.
public struct NotificationName: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The name as text.
    public let text: String

    /// Makes a name.
    ///
    /// - Throws: ``SharedCoreError/Code/invalidArgument`` when `text` is empty or longer than 512 bytes.
    public init(_ text: String) throws(SharedCoreError) {
        self.text = try ValidatedName.contiguous(text, of: "notification name")
    }

    public var description: String { text }

    public static func == (left: NotificationName, right: NotificationName) -> Bool {
        UTF8Bytes.equal(left.text, right.text)
    }

    public static func < (left: NotificationName, right: NotificationName) -> Bool {
        UTF8Bytes.precedes(left.text, right.text)
    }

    public func hash(into hasher: inout Hasher) {
        UTF8Bytes.hash(text, into: &hasher)
    }
}

extension NotificationName: ExpressibleByStringLiteral {
    /// A name written in the source. It stops the program when it breaks the rules, as any wrong literal does.
    public init(stringLiteral value: StaticString) {
        let text = value.description
        precondition((1...Key.maximumByteCount).contains(text.utf8.count), "A name literal has 1 to 512 bytes: \(text)")
        self.text = text
    }
}
