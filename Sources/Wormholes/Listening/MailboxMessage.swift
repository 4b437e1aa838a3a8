public import CoreAPI

/// A message, and where it comes from.
public struct MailboxMessage<Message: Sendable>: Sendable {
    /// What was sent.
    public let value: Message
    /// The commit that stored it.
    public let revision: Revision
    /// The session that sent it.
    public let origin: SessionID

    init(_ value: Message, revision: Revision, origin: SessionID) {
        self.value = value
        self.revision = revision
        self.origin = origin
    }
}

extension MailboxMessage: Equatable where Message: Equatable {}

extension MailboxMessage: Hashable where Message: Hashable {}
