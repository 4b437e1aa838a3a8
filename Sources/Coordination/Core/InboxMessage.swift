/// What a core received and every participant may ask for.
public struct InboxMessage: Hashable, Sendable {
    /// What a message carries.
    public enum Content: Hashable, Sendable {
        /// A text.
        case text(from: String, to: String, text: String)
        /// An invitation to a chat room, asked for by its conference address.
        case invitation(subject: String, localAddress: String)
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
