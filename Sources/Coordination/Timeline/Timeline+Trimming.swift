package import CoreAPI

extension Timeline {
    /// Drops the oldest entries when there are more than ``capacity``, down to half of it, and writes what they added
    /// up to into the checkpoint, in one transaction. Of several who try at once, one does it.
    ///
    /// - Returns: Whether entries were dropped.
    @discardableResult
    package func trim() async throws(SharedCoreError) -> Bool {
        let snapshot = try await store.list(Self.prefix)
        // Almost always: then no entry has to be read.
        guard snapshot.entries.count > capacity, let transaction = trimming(TimelineHistory(snapshot)) else {
            return false
        }
        do throws(SharedCoreError) {
            _ = try await store.commit(transaction)
            return true
        } catch {
            guard error.guardFailure?.condition.key == Self.checkpointKey else { throw error }
            return false
        }
    }

    /// The transaction that trims a history; nil when it is short enough.
    func trimming(_ history: TimelineHistory) -> Transaction? {
        guard history.places.count > capacity else { return nil }
        let last = history.places[history.places.count - capacity / 2 - 1].revision
        // The entries of one commit go together.
        let dropped = history.places.prefix { $0.revision <= last }
        var ledger = history.checkpoint?.ledger ?? OwnershipLedger()
        for record in history.records where record.revision <= last { _ = ledger.apply(record) }
        let checkpoint = TimelineCheckpoint(
            through: last, droppedCount: (history.checkpoint?.droppedCount ?? 0) + dropped.count, ledger: ledger)

        var transaction = Transaction()
        transaction.require(
            history.checkpointRevision.map { .revision(Self.checkpointKey, $0) } ?? .absent(Self.checkpointKey))
        for place in dropped { transaction.delete(place.key) }
        transaction.put(Self.checkpointKey, checkpoint.encoded())
        return transaction
    }
}
