internal import CoreAPI
internal import Mailboxes

/// The messages of a queue as one consumer takes them.
///
/// It ends when it is cancelled or the group is closed, and throws when the session ends. It has one consumer at a time;
/// several sequences of one queue share its messages between them.
///
/// Source: contract M6.
public final class QueuedMessages<Message: Sendable>: AsyncSequence, Sendable {
    public typealias Element = QueuedMessage<Message>
    public typealias Failure = WormholeError

    private let deliveries: QueueDeliveries
    private let mailbox: QueueMailbox
    private let type: MessageType<Message>

    init(_ deliveries: QueueDeliveries, of mailbox: QueueMailbox, as type: MessageType<Message>) {
        self.deliveries = deliveries
        self.mailbox = mailbox
        self.type = type
    }

    /// Ends the sequence. Messages in hand stay there. Idempotent.
    public func cancel() {
        deliveries.cancel()
    }

    public func makeAsyncIterator() -> Iterator {
        Iterator(deliveries: deliveries.makeAsyncIterator(), mailbox: mailbox, type: type)
    }

    /// Takes messages from the queue.
    public struct Iterator: AsyncIteratorProtocol {
        var deliveries: QueueDeliveries.Iterator
        let mailbox: QueueMailbox
        let type: MessageType<Message>

        public mutating func next() async throws(WormholeError) -> QueuedMessage<Message>? {
            try await take()
        }

        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(WormholeError) -> QueuedMessage<Message>? {
            try await take()
        }

        private nonisolated(nonsending) mutating func take() async throws(WormholeError) -> QueuedMessage<Message>? {
            do throws(SharedCoreError) {
                return try await deliveries.next().map { QueuedMessage($0, of: mailbox, as: type) }
            } catch {
                throw WormholeError(error)
            }
        }
    }
}
