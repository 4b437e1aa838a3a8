package import CoreAPI

/// A group's store as a core sees it: every transaction carries the epoch under which the core runs as its first guard,
/// so nothing that a superseded core writes takes effect.
///
/// Source: contract C4.
struct EpochGuardedStore: ForwardingStore {
    let inner: any SharedStore
    let epoch: Revision
    /// Called when a write shows that the epoch is over.
    let fenced: @Sendable () -> Void
    /// Told what the store answers to writes of content.
    var report: @Sendable (CoreWrite) -> Void = { _ in }

    func commit(_ transaction: Transaction) async throws(SharedCoreError) -> Commit {
        let condition = Transaction.Guard.epoch(OwnershipKey.owner, epoch)
        let hasContent = transaction.hasContent
        do throws(SharedCoreError) {
            let commit = try await inner.commit(transaction.guarded(by: epoch))
            if hasContent { report(.taken) }
            return commit
        } catch {
            if error.guardFailure?.condition == condition || error.code == .sessionEnded { fenced() }
            if hasContent, StoreRefusal.isRefusal(error) { report(.refused(error)) }
            throw error
        }
    }

    /// Does nothing: the handle belongs to the participant's application, not to its core.
    func close() async {}
}

extension Transaction {
    /// Whether it puts anything that may wait for room: a timeline's entry does not, and what lives with a session seldom does.
    fileprivate var hasContent: Bool {
        operations.contains { operation in
            guard case .put(let key, _, let lifetime) = operation else { return false }
            return lifetime != .session && !Timeline.prefix.contains(key)
        }
    }

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
