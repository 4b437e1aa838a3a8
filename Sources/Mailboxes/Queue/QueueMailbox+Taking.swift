public import CoreAPI

extension QueueMailbox {
    /// Takes the oldest message that nobody has in hand; nil when there is none.
    public func take() async throws(SharedCoreError) -> QueueDelivery? {
        while true {
            let entries = try await store.list(keys.prefix).entries
            guard let (item, message) = keys.oldestWaiting(in: entries) else { return nil }
            if let delivery = try await take(message, of: item) { return delivery }
        }
    }

    /// Takes the message of a name; nil when there is none or somebody has it in hand.
    public func take(_ item: ItemName) async throws(SharedCoreError) -> QueueDelivery? {
        while true {
            let found = try await self.item(item)
            guard let message = found.message, found.take == nil else { return nil }
            if let delivery = try await take(message, of: item) { return delivery }
        }
    }

    /// Says that a message is dealt with: it is gone and will never be delivered again.
    ///
    /// Acknowledging twice does no harm.
    ///
    /// - Parameters:
    ///   - delivery: What ``take()`` returned.
    ///   - note: Bytes to remember with the name, where the queue remembers names.
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

    /// Puts a message back where it was, in front of younger ones, for anybody to take. A take that does not stand any
    /// more is left alone.
    public func giveBack(_ delivery: QueueDelivery) async throws(SharedCoreError) {
        var transaction = Transaction()
        try addGiveBack(of: delivery, to: &transaction)
        do throws(SharedCoreError) {
            _ = try await store.commit(transaction)
        } catch {
            guard isOutdated(error) else { throw error }
        }
    }

    /// What stands about one item, at one revision.
    package func item(
        _ name: ItemName, consistency: ReadConsistency = .linearizable
    ) async throws(SharedCoreError) -> QueueItem {
        let snapshot = try await store.list(keys.prefix(of: name), consistency: consistency)
        return QueueContents(of: snapshot.entries, at: keys).items[name] ?? QueueItem()
    }
}
