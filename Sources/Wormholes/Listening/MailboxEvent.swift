public import CoreAPI

/// What a listener hears.
///
/// Source: contract M3, M4.
public enum MailboxEvent<Message: Sendable>: Sendable {
    /// A message was sent. One that equals the message before it is one more.
    case message(MailboxMessage<Message>)
    /// What the mailbox held was removed, at a revision and by a session: it was cleared, or the message of a mailbox
    /// that keeps the last one has expired.
    case cleared(Revision, by: SessionID)
    /// A message was sent that cannot be read here. The next one may be good.
    case undecodable(Undecodable, Revision, by: SessionID)
    /// The listener was too slow to be told of everything: so many messages and clearings were passed over. The last
    /// state follows.
    case lagged(UInt64)
}

extension MailboxEvent: Equatable where Message: Equatable {}

extension MailboxEvent: Hashable where Message: Hashable {}
