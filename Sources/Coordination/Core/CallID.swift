/// The name under which a push announces a message and the core delivers it: a Call-ID, a Message-ID, or the address of
/// a conference. Any text but the empty one.
public struct CallID: Hashable, Sendable, CustomStringConvertible {
    /// The identifier as text.
    public let text: String

    /// Nil when `text` is empty.
    public init?(_ text: String) {
        guard !text.isEmpty else { return nil }
        self.text = text
    }

    public var description: String { text }
}
