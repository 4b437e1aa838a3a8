public import CoreAPI
public import Mailboxes

/// The messages of a queue as taken by one consumer.
///
/// It ends when it is cancelled or the group is closed, and throws when the session ends. It has one consumer at a
/// time; several sequences of one queue share its messages.
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

    /// Ends the sequence. Taken messages remain taken. Idempotent.
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

        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(WormholeError) -> QueuedMessage<Message>? {
            do throws(SharedCoreError) {
                return try await deliveries.next(isolation: actor).map { QueuedMessage($0, of: mailbox, as: type) }
            } catch {
                throw WormholeError(error)
            }
        }
    }
}

/// A message that a consumer has taken: no other can take it until it is acknowledged or given back, or the session
/// ends.
///
/// Source: contract M6.
public struct QueuedMessage<Message: Sendable>: Sendable {
    /// The message, or the reason why it cannot be read here. An unreadable message must be handled as well:
    /// acknowledged to drop it, or given back for a consumer that can read it.
    public let content: Result<Message, DecodingFailure>
    private let delivery: QueueDelivery
    private let mailbox: QueueMailbox

    init(_ delivery: QueueDelivery, of mailbox: QueueMailbox, as type: MessageType<Message>) {
        content = type.message(in: delivery.bytes)
        self.delivery = delivery
        self.mailbox = mailbox
    }

    /// The message that was sent.
    ///
    /// - Throws: ``WormholeError/Code/undecodable`` when it cannot be read here.
    public var message: Message {
        get throws(WormholeError) {
            switch content {
            case .success(let message): message
            case .failure(let problem): throw WormholeError(problem)
            }
        }
    }

    /// The name of the message in its queue.
    public var item: ItemName { delivery.item }

    /// The revision of the commit that stored the message.
    public var revision: Revision { delivery.sentAt }

    /// The session that sent the message.
    public var origin: SessionID { delivery.sender }

    /// Acknowledges the message: it is removed, and is never delivered again. Acknowledging twice does no harm.
    @discardableResult
    public func acknowledge() async throws(WormholeError) -> Acknowledgement {
        try await inStore { () async throws(SharedCoreError) in try await mailbox.acknowledge(delivery) }
    }

    /// Adds the acknowledgement to the transaction that stores the result of the message, so that both take effect or
    /// neither: then the message takes effect once, even if processes are killed. The commit fails if this consumer no
    /// longer holds the message.
    public func addAcknowledgement(to transaction: inout Transaction) throws(WormholeError) {
        do throws(SharedCoreError) {
            try mailbox.addAcknowledgement(of: delivery, to: &transaction)
        } catch {
            throw WormholeError(error)
        }
    }

    /// Puts the message back in its place, before newer ones, for any consumer to take.
    public func giveBack() async throws(WormholeError) {
        try await inStore { () async throws(SharedCoreError) in try await mailbox.giveBack(delivery) }
    }
}
