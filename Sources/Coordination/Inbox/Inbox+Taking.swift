public import CoreAPI
public import Mailboxes

extension Inbox {
    /// Takes the message of a call-id for this participant. No other participant can take it until this one's session
    /// ends or the message is acknowledged.
    public func take(_ callID: CallID) async throws(SharedCoreError) -> InboxTakeResult {
        try await take(MessageID(callID))
    }

    /// Takes the oldest message that matches an identity and that no participant has in hand.
    public func take(_ id: MessageID) async throws(SharedCoreError) -> InboxTakeResult {
        try await take(id, firstLook: .linearizable)
    }

    /// Takes the message of an identity as ``take(_:)`` takes that of a call-id.
    ///
    /// - Parameters:
    ///   - firstLook: The consistency of the first search. A weaker one costs less, for a caller that expects the message
    ///     in its replica. Later searches are linearizable.
    ///   - key: A key to delete in the commit that takes the message.
    package func take(
        _ id: MessageID, firstLook: ReadConsistency, deleting key: Key? = nil
    ) async throws(SharedCoreError) -> InboxTakeResult {
        var consistency = firstLook
        while true {
            let found = try await find(id, consistency: consistency)
            consistency = .linearizable
            guard case .stored(let message) = found.state, let entry = found.item.message else {
                return .unavailable(found.state)
            }
            if let delivery = try await mailbox.take(entry, of: found.id.item, deleting: key) {
                return .taken(TakenMessage(message: message, delivery: delivery))
            }
        }
    }

    /// Takes the oldest message that no participant has in hand; returns nil if there is none. Messages that this
    /// version cannot read are left out.
    public func take() async throws(SharedCoreError) -> TakenMessage? {
        let contents = try await mailbox.contents()
        for (name, _) in contents.waiting {
            if let taken = try await take(name) { return taken }
        }
        return nil
    }

    /// Takes the message of an item; returns nil if there is none that this version can read, or if a participant has
    /// it in hand.
    func take(_ name: ItemName) async throws(SharedCoreError) -> TakenMessage? {
        while true {
            let item = try await mailbox.item(name)
            guard let entry = item.message, item.take == nil, let message = Self.message(in: item, named: name) else {
                return nil
            }
            if let delivery = try await mailbox.take(entry, of: name) {
                return TakenMessage(message: message, delivery: delivery)
            }
        }
    }

    /// Returns a sequence that takes every message, the oldest first, and waits while there is none. It is for a Main,
    /// which shows all messages that its group has received, also those of an earlier owner.
    ///
    /// ```swift
    /// for try await taken in try await inbox.deliveries() {
    ///     show(taken.message)
    ///     try await inbox.acknowledge(taken)
    /// }
    /// ```
    ///
    /// A message that is stored after this call has returned wakes a waiting consumer.
    ///
    /// Source: contract C10.
    public func deliveries() async throws(SharedCoreError) -> InboxDeliveries {
        InboxDeliveries(of: self, watch: try await mailbox.watch(from: .snapshot))
    }

    /// Acknowledges a message that was shown. It is removed, and its identity is remembered.
    ///
    /// - Returns: ``Acknowledgement/superseded`` if the take has ended because the message was updated, withdrawn or
    ///   acknowledged meanwhile. Nothing was done then.
    @discardableResult
    public func acknowledge(_ taken: TakenMessage) async throws(SharedCoreError) -> Acknowledgement {
        var transaction = Transaction()
        try acknowledgementOperations(of: taken, into: &transaction)
        do throws(SharedCoreError) {
            return .acknowledged(try await mailbox.store.commit(transaction).revision)
        } catch {
            guard mailbox.isOutdated(error) else { throw error }
            return .superseded
        }
    }

    /// Adds the acknowledgement of a message to a transaction, which fails if the take has ended.
    package func acknowledgementOperations(
        of taken: TakenMessage, into transaction: inout Transaction
    ) throws(SharedCoreError) {
        try mailbox.addAcknowledgement(of: taken.delivery, leaving: Self.note(of: taken), to: &transaction)
        transaction.delete(try mailbox.keys.key(of: .details, for: taken.delivery.item))
    }

    /// Returns the mark that the inbox keeps for a message that was shown.
    private static func note(of taken: TakenMessage) -> [UInt8] {
        InboxMark(reason: .acknowledged, callID: taken.message.callID).encoded()
    }

    /// Gives a message back that this participant does not show, so that others can take it.
    public func giveBack(_ taken: TakenMessage) async throws(SharedCoreError) {
        try await mailbox.giveBack(taken.delivery)
    }
}

/// The result of a request for a message.
public enum InboxTakeResult: Hashable, Sendable {
    /// It is in this participant's hand.
    case taken(TakenMessage)
    /// There is nothing to take, for the reason given.
    case unavailable(InboxState)
}

/// A message in a participant's hand, to be acknowledged when it has been shown.
///
/// It may have been shown before: if a participant is killed between showing and acknowledging, the message can be
/// taken again.
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
