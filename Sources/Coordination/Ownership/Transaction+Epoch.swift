package import CoreAPI

extension Transaction {
    /// The same for the core that runs under an epoch: it takes effect only while that stands.
    ///
    /// Source: contract C4.
    package func guarded(by epoch: Revision) -> Transaction {
        let condition = Guard.epoch(OwnershipKey.owner, epoch)
        guard guards.first != condition else { return self }
        var guarded = self
        // In front, so that a superseded core hears that it is, not that another condition does not hold.
        guarded.guards.insert(condition, at: 0)
        return guarded
    }
}
