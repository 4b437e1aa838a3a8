/// The name under which a push announces a message and the core delivers it: a Call-ID, a Message-ID, or the address of
/// a conference. Any text but the empty one.
///
/// It is its bytes, as a ``Key`` is: two call-ids are equal only when their bytes are.
public struct CallID: Hashable, Sendable, CustomStringConvertible {
    /// The identifier as text.
    public let text: String

    /// Nil when `text` is empty.
    public init?(_ text: String) {
        guard !text.isEmpty else { return nil }
        self.text = text
    }

    public var description: String { text }

    public static func == (left: CallID, right: CallID) -> Bool {
        left.text.utf8.elementsEqual(right.text.utf8)
    }

    public func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
        hasher.combine(text.utf8.count)
    }
}
