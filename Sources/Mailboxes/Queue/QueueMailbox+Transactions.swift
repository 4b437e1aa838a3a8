public import CoreAPI

/// The steps of a queue as additions to a transaction that does more, or under more conditions.
extension QueueMailbox {
    /// Adds the storing of a message under a name. The transaction fails when one of that name is in the queue or is
    /// remembered. The capacity is not judged.
    public func addSend(
        of bytes: [UInt8], as item: ItemName, to transaction: inout Transaction
    ) throws(SharedCoreError) {
        try requireUnknown(item, in: &transaction)
        // Where there is no message, a take is what is left of one that expired in its taker's hand.
        transaction.delete(try keys.key(of: .take, for: item))
        transaction.put(try keys.key(of: .message, for: item), bytes, lifetime: options.lifetime)
        if let announcement { transaction.post(announcement) }
    }

    /// Adds the remembering of a name whose message was never in the queue. The transaction fails when one of that
    /// name is in the queue or is remembered.
    public func addMark(
        _ note: [UInt8], for item: ItemName, to transaction: inout Transaction
    ) throws(SharedCoreError) {
        try requireUnknown(item, in: &transaction)
        transaction.put(try keys.key(of: .mark, for: item), note, lifetime: markLifetime)
    }

    /// Adds the acknowledgement of a message. The transaction fails when the take does not stand any more.
    public func addAcknowledgement(
        of delivery: QueueDelivery, leaving note: [UInt8] = [], to transaction: inout Transaction
    ) throws(SharedCoreError) {
        try addGiveBack(of: delivery, to: &transaction)
        transaction.delete(try keys.key(of: .message, for: delivery.item))
        if options.markLifetime != nil {
            transaction.put(try keys.key(of: .mark, for: delivery.item), note, lifetime: markLifetime)
        }
    }

    /// Adds the giving back of a message. The transaction fails when the take does not stand any more.
    public func addGiveBack(
        of delivery: QueueDelivery, to transaction: inout Transaction
    ) throws(SharedCoreError) {
        let take = try keys.key(of: .take, for: delivery.item)
        transaction.require(.epoch(take, delivery.epoch))
        transaction.delete(take)
    }

    /// Adds the taking of a message as it was seen; the revision of the commit is the epoch of the take. The
    /// transaction fails when the message is gone or in a consumer's hand.
    ///
    /// - Parameter nonce: What tells this take from every other of the same session.
    package func addTake(
        of message: Entry, item: ItemName, nonce: [UInt8] = [], to transaction: inout Transaction
    ) throws(SharedCoreError) {
        let take = try keys.key(of: .take, for: item)
        transaction.require(.revision(message.key, message.revision))
        transaction.require(.absent(take))
        transaction.put(take, nonce, lifetime: .session)
    }

    private var markLifetime: Lifetime { options.markLifetime.map { .expiring(after: $0) } ?? .persistent }

    private func requireUnknown(_ item: ItemName, in transaction: inout Transaction) throws(SharedCoreError) {
        transaction.require(.absent(try keys.key(of: .message, for: item)))
        transaction.require(.absent(try keys.key(of: .mark, for: item)))
    }
}
