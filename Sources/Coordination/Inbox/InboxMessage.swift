internal import CoreAPI

/// What a core received and every participant may ask for.
public struct InboxMessage: Hashable, Sendable {
    /// What a message carries.
    public enum Content: Hashable, Sendable {
        /// A text.
        case text(from: String, to: String, text: String)
        /// An invitation to a chat room, asked for by its conference address: who invites, to what, and the address of the
        /// user who is invited.
        case invitation(from: String, subject: String, localAddress: String)
        /// A message that is larger than the inbox can hold. Its text stays where the core found it.
        case tooLarge(from: String, to: String)
        /// Nothing that a person would see, such as a delivery report. It ends the wait for its call-id.
        case nothingToShow
    }

    /// The identifier that its push announced.
    public let callID: CallID
    /// What it carries.
    public let content: Content

    public init(callID: CallID, content: Content) {
        self.callID = callID
        self.content = content
    }
}

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
        UTF8Bytes.equal(left.text, right.text)
    }

    public func hash(into hasher: inout Hasher) {
        UTF8Bytes.hash(text, into: &hasher)
    }
}
