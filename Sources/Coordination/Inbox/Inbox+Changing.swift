package import CoreAPI
internal import Mailboxes

/// The outcome of a core's change to a message.
///
/// Source: contract C22.
public enum MessageChange: Hashable, Sendable {
    /// The message was in the inbox. A participant that asks from now on gets the result of the change.
    case changed
    /// As ``changed``, but a participant had the message in hand and may have shown the former content. Its
    /// acknowledgement tells it that the message is not its own any more. When it asks again, it gets the result of the
    /// change.
    case changedInHand
    /// The message was acknowledged before, or had nothing to show. Nothing was changed.
    case over
    /// No message has this identity: it was not stored, or has expired. Nothing was changed.
    case absent
}

extension Inbox {
    /// Replaces the content of a message that waits to be acknowledged, and restarts its lifetime. New content without
    /// anything to show withdraws the message.
    ///
    /// - Throws: As ``store(_:)``.
    package func update(_ message: InboxMessage) async throws(SharedCoreError) -> MessageChange {
        guard let (record, details) = try records(of: message) else { return try await withdraw(message.id) }
        return try await change(message.id) { entry, transaction throws(SharedCoreError) in
            transaction.put(entry.key, record, lifetime: entry.lifetime)
            try put(details, for: message.id.item, lifetime: entry.lifetime, into: &transaction)
        }
    }

    /// Removes a waiting message from the inbox: there is nothing to show any more.
    package func withdraw(_ id: MessageID) async throws(SharedCoreError) -> MessageChange {
        try await end(id, as: .nothingToShow)
    }

    /// Acknowledges a message that was shown, whether or not a participant has it in hand. It is removed, and its
    /// identity is remembered.
    package func acknowledge(_ id: MessageID) async throws(SharedCoreError) -> MessageChange {
        try await end(id, as: .acknowledged)
    }

    private func end(_ id: MessageID, as reason: InboxMark.Reason) async throws(SharedCoreError) -> MessageChange {
        try await change(id) { entry, transaction throws(SharedCoreError) in
            let mark = try mailbox.keys.key(of: .mark, for: id.item)
            transaction.delete(entry.key)
            transaction.delete(try mailbox.keys.key(of: .details, for: id.item))
            transaction.put(mark, InboxMark(reason: reason, callID: id.callID).encoded(), lifetime: entry.lifetime)
        }
    }

    /// Changes a message of exactly this identity, and ends the take of a participant that has it in hand: otherwise
    /// that participant's acknowledgement of the former content would remove the new content.
    ///
    /// - Parameter change: Adds the operations of the change to the transaction, given the message's present entry.
    private func change(
        _ id: MessageID, _ change: (Entry, inout Transaction) throws(SharedCoreError) -> Void
    ) async throws(SharedCoreError) -> MessageChange {
        let takeKey = try mailbox.keys.key(of: .take, for: id.item)
        while true {
            let item = try await mailbox.item(id.item)
            guard let entry = item.message else { return item.mark == nil ? .absent : .over }
            var transaction = Transaction()
            transaction.require(.revision(entry.key, entry.revision))
            transaction.require(item.take.map { .revision(takeKey, $0.revision) } ?? .absent(takeKey))
            transaction.delete(takeKey)
            try change(entry, &transaction)
            do throws(SharedCoreError) {
                try await commit(transaction)
                return item.take == nil ? .changed : .changedInHand
            } catch {
                guard mailbox.isOutdated(error) else { throw error }
            }
        }
    }
}
