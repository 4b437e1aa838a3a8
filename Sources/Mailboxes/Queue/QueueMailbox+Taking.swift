public import CoreAPI

extension QueueMailbox {
    /// Takes the oldest message that no consumer has taken; returns nil if there is none.
    public func take() async throws(SharedCoreError) -> QueueDelivery? {
        while true {
            let entries = try await store.list(keys.prefix).entries
            guard let (item, message) = keys.oldestWaiting(in: entries) else { return nil }
            if let delivery = try await take(message, of: item) { return delivery }
        }
    }

    /// Takes the message of a name; returns nil if there is none or a consumer has taken it.
    public func take(_ item: ItemName) async throws(SharedCoreError) -> QueueDelivery? {
        while true {
            let found = try await self.item(item)
            guard let message = found.message, found.take == nil else { return nil }
            if let delivery = try await take(message, of: item) { return delivery }
        }
    }

    /// Acknowledges a message: it is removed and will never be delivered again.
    ///
    /// Acknowledging twice does no harm.
    ///
    /// - Parameters:
    ///   - delivery: The delivery from ``take()``.
    ///   - note: Bytes to remember with the name, if the queue remembers names.
    @discardableResult
    public func acknowledge(
        _ delivery: QueueDelivery, leaving note: [UInt8] = []
    ) async throws(SharedCoreError) -> Acknowledgement {
        var transaction = Transaction()
        try addAcknowledgement(of: delivery, leaving: note, to: &transaction)
        do throws(SharedCoreError) {
            return .acknowledged(try await store.commit(transaction).revision)
        } catch {
            guard isOutdated(error) else { throw error }
            return .superseded
        }
    }

    /// Puts a message back in its place, before newer ones, for any consumer to take. Does nothing for a take that no
    /// longer exists.
    public func giveBack(_ delivery: QueueDelivery) async throws(SharedCoreError) {
        var transaction = Transaction()
        try addGiveBack(of: delivery, to: &transaction)
        do throws(SharedCoreError) {
            _ = try await store.commit(transaction)
        } catch {
            guard isOutdated(error) else { throw error }
        }
    }

    /// Returns the entries of one item, at one revision.
    package func item(
        _ name: ItemName, consistency: ReadConsistency = .linearizable
    ) async throws(SharedCoreError) -> QueueItem {
        try await contents(below: keys.prefix(of: name), consistency: consistency).items[name] ?? QueueItem()
    }
}

/// How a consumer takes one message, even if the answer of the commit is lost.
extension QueueMailbox {
    /// The interval and the number of searches for a take after its answer was lost and its caller has gone.
    private static let searchInterval = Duration.seconds(1)
    private static let searchCount = 60

    /// Tries to take a message as it was read; returns nil if something has changed.
    ///
    /// A take with a lost answer may have succeeded, and would keep the message from all consumers. So this searches
    /// for the take by its nonce. If that search fails too, a task continues the search and gives the take back when it
    /// finds it.
    ///
    /// - Parameters:
    ///   - condition: A further condition; its failure is thrown.
    ///   - key: A key to delete in the same commit.
    package func take(
        _ message: Entry, of item: ItemName, requiring condition: Transaction.Guard? = nil, deleting key: Key? = nil
    ) async throws(SharedCoreError) -> QueueDelivery? {
        let nonce = (0..<8).map { _ in UInt8.random(in: .min ... .max) }
        var transaction = Transaction()
        if let condition { transaction.require(condition) }
        try addTake(of: message, item: item, nonce: nonce, to: &transaction)
        if let key { transaction.delete(key) }
        do throws(SharedCoreError) {
            let commit = try await store.commit(transaction)
            return QueueDelivery(of: message, item: item, epoch: commit.revision)
        } catch {
            if isOutdated(error) { return nil }
            guard error.code == .outcomeUnknown else { throw error }
            return try await search(nonce, for: message, of: item, after: error)
        }
    }

    private func search(
        _ nonce: [UInt8], for message: Entry, of item: ItemName, after lost: SharedCoreError
    ) async throws(SharedCoreError) -> QueueDelivery? {
        do throws(SharedCoreError) {
            if let delivery = try await find(nonce, for: message, of: item) { return delivery }
        } catch {
            Task { await giveBackWhenFound(nonce, for: message, of: item) }
        }
        throw lost
    }

    /// Returns the delivery of an existing take.
    private func find(
        _ nonce: [UInt8], for message: Entry, of item: ItemName
    ) async throws(SharedCoreError) -> QueueDelivery? {
        guard let take = try await self.item(item).take, take.origin == store.session.id, take.value == nonce else {
            return nil
        }
        return QueueDelivery(of: message, item: item, epoch: take.revision)
    }

    private func giveBackWhenFound(_ nonce: [UInt8], for message: Entry, of item: ItemName) async {
        await tryAgain { () async throws(SharedCoreError) in
            if let delivery = try await find(nonce, for: message, of: item) { try await giveBack(delivery) }
        }
    }

    /// Gives a message back. Tries again for a minute, until the store accepts it or the session is over.
    ///
    /// - Parameter sleep: Waits for the time between two attempts, or throws when the task is cancelled. Only tests change it.
    package func giveBackPatiently(
        _ delivery: QueueDelivery, sleep: (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    ) async {
        await tryAgain(sleep: sleep) { () async throws(SharedCoreError) in try await giveBack(delivery) }
    }

    private func tryAgain(
        sleep: (Duration) async throws -> Void = { try await Task.sleep(for: $0) },
        _ giveBack: () async throws(SharedCoreError) -> Void
    ) async {
        for _ in 0..<Self.searchCount {
            do throws(SharedCoreError) {
                return try await giveBack()
            } catch {
                // The takes of a session end with it.
                if error.code == .closed || error.code == .sessionEnded { return }
            }
            do { try await sleep(Self.searchInterval) } catch { return }
        }
    }
}

/// A message that a consumer has taken. No other can take it until it is acknowledged, given back, or the consumer's
/// session ends.
public struct QueueDelivery: Hashable, Sendable {
    /// The name of the message.
    public let item: ItemName
    /// The message.
    public let bytes: [UInt8]
    /// The commit that stored it.
    public let sentAt: Revision
    /// The session that sent it.
    public let sender: SessionID
    /// The epoch of the take: an acknowledgement counts only while this take exists.
    public let epoch: Revision

    /// Creates the delivery of a message that was taken at `epoch`.
    package init(of message: Entry, item: ItemName, epoch: Revision) {
        self.item = item
        self.bytes = message.value
        self.sentAt = message.creationRevision
        self.sender = message.origin
        self.epoch = epoch
    }
}

/// The outcome of an acknowledgement.
public enum Acknowledgement: Hashable, Sendable {
    /// The message is removed and will not be delivered again, by this commit.
    case acknowledged(Revision)
    /// The take no longer exists: the message was acknowledged before, given back, dropped by overflow or taken by
    /// another session after this session's end. This call changed nothing. After an `outcomeUnknown` of an earlier call
    /// for the same delivery, that call may have removed the message: if your commit has other operations, read their
    /// result.
    case superseded
}
