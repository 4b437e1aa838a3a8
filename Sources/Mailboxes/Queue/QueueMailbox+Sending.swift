public import CoreAPI

extension QueueMailbox {
    /// Puts a message at the end of the queue.
    ///
    /// - Returns: The receipt, once the message is committed.
    /// - Throws: ``SharedCoreError/Code/limitExceeded`` when the message is larger than a value can be, or when the
    ///   queue is full and its policy is ``QueueOptions/Overflow/refuse``; the errors of ``SharedStore/commit(_:)``.
    @discardableResult
    public func send(_ bytes: [UInt8]) async throws(SharedCoreError) -> SendReceipt {
        while true {
            // Each number is used once, and a commit with an unknown outcome is not repeated here, so the message
            // cannot be a duplicate.
            if case .sent(let receipt) = try await send(bytes, as: .numbered(by: store.session.id)) { return receipt }
        }
    }

    /// Puts a message into the queue under a name, unless one of that name is in the queue or is remembered.
    ///
    /// - Throws: The errors of ``send(_:)``.
    public func send(_ bytes: [UInt8], as item: ItemName) async throws(SharedCoreError) -> SendResult {
        while true {
            var transaction = Transaction()
            guard let dropped = try await addJudgedSend(of: bytes, as: item, to: &transaction) else {
                return .duplicate
            }
            do throws(SharedCoreError) {
                let commit = try await store.commit(transaction)
                return .sent(SendReceipt(item: item, revision: commit.revision, dropped: dropped))
            } catch {
                if isDuplicate(error, of: item) { return .duplicate }
                guard isOutdated(error) else { throw error }
            }
        }
    }

    /// Adds a message under a name, and the removal of other messages if the capacity requires it. The transaction
    /// fails in the cases of ``addSend(of:as:to:)``, and if the queue changes in between (``isOutdated(_:)``).
    ///
    /// - Returns: The messages that are dropped for it; nil if the name is known already and nothing was added.
    package func addJudgedSend(
        of bytes: [UInt8], as item: ItemName, to transaction: inout Transaction
    ) async throws(SharedCoreError) -> [ItemName]? {
        var dropped: [ItemName] = []
        if let capacity = options.capacity {
            let contents = try await contents()
            if contents.items[item]?.message != nil || contents.items[item]?.mark != nil { return nil }
            dropped = try makeRoom(in: contents, for: capacity, to: &transaction)
        }
        try addSend(of: bytes, as: item, to: &transaction)
        return dropped
    }

    /// Returns whether a failed guard says that the message is in the queue already, or was acknowledged.
    package func isDuplicate(_ error: SharedCoreError, of item: ItemName) -> Bool {
        guard let place = (error.guardFailure?.condition.key).flatMap(keys.place) else { return false }
        return place.item == item && place.part != .take
    }

    /// Drops the oldest messages for a new one, and guards the count.
    private func makeRoom(
        in contents: QueueContents, for capacity: Int, to transaction: inout Transaction
    ) throws(SharedCoreError) -> [ItemName] {
        let candidates = contents.waiting + contents.taken
        let excess = candidates.count + 1 - capacity
        guard excess <= 0 || options.overflow == .dropOldest else {
            throw SharedCoreError(
                .limitExceeded, "The mailbox is full: it holds \(candidates.count) of \(capacity) messages.", at: path)
        }
        transaction.require(contents.lastSend.map { .revision(keys.sends, $0) } ?? .absent(keys.sends))
        transaction.put(keys.sends, [])
        var dropped: [ItemName] = []
        for (item, message) in candidates.prefix(max(0, excess)) {
            let take = try keys.key(of: .take, for: item)
            transaction.require(.revision(message.key, message.revision))
            // Guard that the message is not taken meanwhile: otherwise another message should be dropped.
            if contents.items[item]?.take == nil { transaction.require(.absent(take)) }
            transaction.delete(message.key)
            transaction.delete(take)
            dropped.append(item)
        }
        return dropped
    }
}

/// The receipt of a message that is in its queue.
public struct SendReceipt: Hashable, Sendable {
    /// The name under which it is kept.
    public let item: ItemName
    /// The commit that stored it.
    public let revision: Revision
    /// The messages that were dropped for it.
    public let dropped: [ItemName]

    package init(item: ItemName, revision: Revision, dropped: [ItemName]) {
        self.item = item
        self.revision = revision
        self.dropped = dropped
    }
}

/// The outcome of a send under a name.
public enum SendResult: Hashable, Sendable {
    /// The message is in the queue.
    case sent(SendReceipt)
    /// A message of the same name is in the queue, or was acknowledged and is still remembered. Nothing was stored.
    case duplicate
}
