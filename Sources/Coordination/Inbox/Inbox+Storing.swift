public import CoreAPI
internal import Mailboxes

extension Inbox {
    /// Stores a message, unless one of its call-id is stored or was acknowledged. One without anything to show leaves
    /// only the mark that ends the wait for it.
    ///
    /// - Throws: ``SharedCoreError/Code/limitExceeded`` when the record would be larger than a value can be;
    ///   what ``SharedStore/commit(_:)`` throws.
    @discardableResult
    public func store(_ message: InboxMessage) async throws(SharedCoreError) -> CoreContext.Acceptance {
        var transaction = Transaction()
        try storeOperations(for: message, into: &transaction)
        do throws(SharedCoreError) {
            _ = try await mailbox.store.commit(transaction)
            return .stored
        } catch {
            guard isDuplicate(error, of: message.callID) else { throw error }
            return .duplicate
        }
    }

    /// Adds the storing of a message to a transaction, which fails when one of its call-id is stored or was
    /// acknowledged: see ``isDuplicate(_:of:)``.
    ///
    /// Conditions that matter more, such as the epoch of the core that received it, are to be added first: a failed
    /// transaction names the first condition that did not hold.
    package func storeOperations(
        for message: InboxMessage, into transaction: inout Transaction
    ) throws(SharedCoreError) {
        let name = ItemName(message.callID.text)
        let limit = mailbox.store.capabilities.limits.valueByteCount
        if let record = InboxRecord.encoded(message) {
            try require(record.count, within: limit, for: message.callID)
            try mailbox.addSend(of: record, as: name, to: &transaction)
        } else {
            let note = InboxMark(reason: .nothingToShow, callID: message.callID).encoded()
            try require(note.count, within: limit, for: message.callID)
            try mailbox.addMark(note, for: name, to: &transaction)
        }
    }

    /// Whether a transaction failed because one of the call-id is stored already, or was acknowledged.
    package func isDuplicate(_ error: SharedCoreError, of callID: CallID) -> Bool {
        mailbox.isDuplicate(error, of: ItemName(callID.text))
    }

    private func require(_ count: Int, within limit: Int, for callID: CallID) throws(SharedCoreError) {
        guard count <= limit else {
            throw SharedCoreError(
                .limitExceeded, "A message has at most \(limit) bytes with its call-id, this one has \(count).",
                at: "call-id \(callID.text.prefix(64))")
        }
    }
}
