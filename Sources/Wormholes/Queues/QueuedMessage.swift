public import CoreAPI
public import Mailboxes

/// A message in a consumer's hand: nobody else's until it is acknowledged or given back, or the consumer's session ends.
///
/// Source: contract M6.
public struct QueuedMessage<Message: Sendable>: Sendable {
    /// What was sent, or why it cannot be read here. One that cannot be read must be dealt with as well: acknowledged to
    /// be rid of it, or given back for somebody who can.
    public let content: Result<Message, Undecodable>
    private let delivery: QueueDelivery
    private let mailbox: QueueMailbox

    init(_ delivery: QueueDelivery, of mailbox: QueueMailbox, as type: MessageType<Message>) {
        content = type.message(in: delivery.bytes)
        self.delivery = delivery
        self.mailbox = mailbox
    }

    /// What was sent.
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

    /// The commit that stored it.
    public var revision: Revision { delivery.sentAt }

    /// The session that sent it.
    public var origin: SessionID { delivery.sender }

    /// Says that it is dealt with: it is gone, and is never delivered again. Acknowledging twice does no harm.
    @discardableResult
    public func acknowledge() async throws(WormholeError) -> Acknowledgement {
        try await inStore { () async throws(SharedCoreError) in try await mailbox.acknowledge(delivery) }
    }

    /// Adds the acknowledgement to a transaction that does what the message asks for, so that both take effect or neither:
    /// then it is done once, whoever is killed when. The transaction fails when the message is in this hand no more.
    public func addAcknowledgement(to transaction: inout Transaction) throws(WormholeError) {
        do throws(SharedCoreError) {
            try mailbox.addAcknowledgement(of: delivery, to: &transaction)
        } catch {
            throw WormholeError(error)
        }
    }

    /// Puts it back where it was, in front of younger ones, for anybody to take.
    public func giveBack() async throws(WormholeError) {
        try await inStore { () async throws(SharedCoreError) in try await mailbox.giveBack(delivery) }
    }
}
