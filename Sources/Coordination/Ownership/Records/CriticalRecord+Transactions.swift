package import CoreAPI

extension CriticalRecord {
    /// What enters a section: not while a request is pending, and one at a time.
    package static func entering(_ epoch: Revision, bound: Duration) -> Transaction {
        var transaction = Transaction()
        transaction.require(.epoch(OwnershipKey.owner, epoch))
        transaction.require(.absent(OwnershipKey.handover))
        transaction.require(.absent(OwnershipKey.critical))
        transaction.put(
            OwnershipKey.critical, CriticalRecord(epoch: epoch, bound: bound).bytes, lifetime: .session)
        return transaction
    }

    /// What leaves it.
    package static func leaving(_ epoch: Revision) -> Transaction {
        var transaction = Transaction()
        transaction.require(.epoch(OwnershipKey.owner, epoch))
        transaction.delete(OwnershipKey.critical)
        return transaction
    }
}
