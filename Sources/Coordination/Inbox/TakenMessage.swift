package import Mailboxes

/// A message in a participant's hand, to be acknowledged when it has been shown.
///
/// It may have been shown before: a participant that is killed between showing and acknowledging gives it back.
///
/// Source: contract C10.
public struct TakenMessage: Hashable, Sendable {
    /// The message.
    public let message: InboxMessage
    package let delivery: QueueDelivery

    package init(message: InboxMessage, delivery: QueueDelivery) {
        self.message = message
        self.delivery = delivery
    }
}
