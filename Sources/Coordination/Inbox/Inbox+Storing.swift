public import CoreAPI
internal import Mailboxes

extension Inbox {
    /// Stores a message, unless a message of its identity is stored or was acknowledged. A message with nothing to show
    /// only leaves the mark that ends the wait for it.
    ///
    /// - Throws: ``SharedCoreError/Code/limitExceeded`` when the record would be larger than the maximum size of a
    ///   value; ``SharedCoreError/Code/storageFull`` when the group or its disk is full;
    ///   ``SharedCoreError/Code/invalidArgument`` for a value of the content that breaks its rule; the other errors of
    ///   ``SharedStore/commit(_:)``.
    @discardableResult
    public func store(_ message: InboxMessage) async throws(SharedCoreError) -> CoreContext.DeliveryResult {
        var transaction = Transaction()
        try storeOperations(for: message, into: &transaction)
        do throws(SharedCoreError) {
            try await commit(transaction)
            return .stored
        } catch {
            guard isDuplicate(error, of: message.id) else { throw error }
            return .duplicate
        }
    }

    /// Commits a transaction of a message that fits into a value. Throws ``SharedCoreError/Code/storageFull`` if the
    /// store refuses the transaction for its size: the group is full, and the message can be stored later as it is.
    func commit(_ transaction: Transaction) async throws(SharedCoreError) {
        do throws(SharedCoreError) {
            _ = try await mailbox.store.commit(transaction)
        } catch {
            guard error.code == .limitExceeded else { throw error }
            throw SharedCoreError(
                .storageFull, "The group is full. \(error.message)", at: error.location, cause: error.cause)
        }
    }

    /// Adds the operations that store a message to a transaction, which fails if a message of its identity is stored or
    /// was acknowledged: see ``isDuplicate(_:of:)``.
    ///
    /// A failed transaction reports the first guard that did not hold. So add guards with precedence, such as the epoch
    /// of the receiving core, before this call.
    package func storeOperations(
        for message: InboxMessage, into transaction: inout Transaction
    ) throws(SharedCoreError) {
        let name = message.id.item
        if let (record, details) = try records(of: message) {
            try mailbox.addSend(of: record, as: name, to: &transaction)
            try put(details, for: name, lifetime: mailbox.options.lifetime, into: &transaction)
        } else {
            let note = InboxMark(reason: .nothingToShow, callID: message.callID).encoded()
            try require(note.count, for: message.id)
            try mailbox.addMark(note, for: name, to: &transaction)
        }
    }

    /// Returns the bytes of a message and of its details, if it has any; nil for a message with nothing to show.
    func records(
        of message: InboxMessage
    ) throws(SharedCoreError) -> (record: [UInt8], details: [UInt8]?)? {
        if let problem = message.content.problem {
            throw SharedCoreError(.invalidArgument, problem, at: "message \(message.id.description.prefix(64))")
        }
        guard let record = InboxRecord.encoded(message) else { return nil }
        let details = InboxDetails.encoded(message.content)
        try require(record.count + (details?.count ?? 0), for: message.id)
        return (record, details)
    }

    func put(
        _ details: [UInt8]?, for name: ItemName, lifetime: Lifetime, into transaction: inout Transaction
    ) throws(SharedCoreError) {
        let key = try mailbox.keys.key(of: .details, for: name)
        if let details {
            transaction.put(key, details, lifetime: lifetime)
        } else {
            transaction.delete(key)
        }
    }

    /// Removes the substitute of a message that was set aside, so that the message itself is stored when it is received
    /// again. The substitute is the notice that the message is too large, or a mark: that the notice was shown, or that
    /// there is nothing to show.
    ///
    /// - Throws: ``SharedCoreError/Code/corrupt`` or ``SharedCoreError/Code/incompatible`` for a record or a mark that
    ///   cannot be read; the errors of ``SharedStore/commit(_:)`` except a failed guard.
    package func forgetNotice(of callID: CallID) async throws(SharedCoreError) -> NoticeState {
        let id = MessageID(callID)
        let item = try await mailbox.item(id.item)
        switch try InboxState(of: item, id: id) {
        case .absent: return .gone
        case .taken: return .taken
        case .stored(let message):
            guard message.content.kind == .tooLarge else { return .message }
        case .acknowledged, .nothingToShow: break
        }
        var transaction = Transaction()
        transaction.require(.absent(try mailbox.keys.key(of: .take, for: id.item)))
        for entry in [item.message, item.details, item.mark].compactMap({ $0 }) {
            transaction.require(.revision(entry.key, entry.revision))
            transaction.delete(entry.key)
        }
        do throws(SharedCoreError) {
            _ = try await mailbox.store.commit(transaction)
            return .gone
        } catch {
            guard error.code == .guardFailed else { throw error }
            return .changed
        }
    }

    /// The records that the inbox has under the identity of a message that was set aside, after ``forgetNotice(of:)``.
    package enum NoticeState: Hashable, Sendable {
        /// There is no substitute any more: the message is stored when it is received again.
        case gone
        /// A notice that a participant has in hand. It stays.
        case taken
        /// A message of the same call-id that can be shown. It stays.
        case message
        /// An entry that has changed since it was read. It stays.
        case changed
    }

    /// Returns true if a transaction failed because a message of the identity is stored already, or was acknowledged.
    package func isDuplicate(_ error: SharedCoreError, of id: MessageID) -> Bool {
        mailbox.isDuplicate(error, of: id.item)
    }

    private func require(_ count: Int, for id: MessageID) throws(SharedCoreError) {
        let limit = mailbox.store.capabilities.limits.valueByteCount
        guard count <= limit else {
            throw SharedCoreError(
                .limitExceeded, "A message has at most \(limit) bytes with its call-id, this one has \(count).",
                at: "call-id \(id.description.prefix(64))")
        }
    }
}
