package import CoreAPI
package import StoreEngine

/// The order of a group in a backend of one machine: the base of a hub.
///
/// It takes part in the group without a session of its own. Releasing it stops everything that it does.
package protocol LocalOrder: AnyObject, Sendable {
    /// The capabilities of a participant at this order.
    var capabilities: Capabilities { get }
    /// A number that changes when the group's order begins anew, so that what a client knows of the former order is not
    /// valid any more.
    var incarnation: UInt64 { get }
    /// The clock of the group.
    var clock: any TimeSource { get }
    /// The state, which keeps the latest effects.
    var replica: Replica { get }

    /// Brings the replica up to date: it reflects every commit that had returned in any process before the call, and
    /// contains no expired entry.
    func refresh() async throws(SharedCoreError)

    /// Records a request in the order. The replica reflects the outcome when this returns, and the outcome is durable
    /// when ``Recorded/settle`` has returned. Requests are recorded in the order of the calls.
    func record(_ request: OrderRequest) async throws(SharedCoreError) -> Recorded

    /// Returns how the order can free space for a transaction by a compaction; nil if the transaction never waits for
    /// space, for example one that ends a session.
    func room(for transaction: Transaction) -> OrderRoom?

    /// Reaps every session that is known here to have ended.
    func endDead() async throws(SharedCoreError)

    /// Marks the only hub of the group as serving or not. While it serves, no other process listens to every change as
    /// a hub does, so this process need not signal that channel for its own records.
    func setServing(_ isServing: Bool)
}

extension LocalOrder {
    package func room(for transaction: Transaction) -> OrderRoom? { nil }

    package func setServing(_ isServing: Bool) {}
}

/// Frees space for content, before or after it was refused. Both functions compact the journal, and may take long.
package struct OrderRoom: Sendable {
    /// Frees space before the content is recorded; nil when it need not wait.
    package let make: (@Sendable () async -> Void)?
    /// Frees space after the content was refused as `storageFull`, and returns whether to try once more.
    package let regain: @Sendable () async -> Bool

    package init(make: (@Sendable () async -> Void)?, regain: @escaping @Sendable () async -> Bool) {
        self.make = make
        self.regain = regain
    }
}

/// The outcome of a request.
package struct Recorded: Sendable {
    package let outcome: RequestOutcome
    /// Waits until the outcome is durable; nil if it is already.
    package let settle: (@Sendable () async throws(SharedCoreError) -> Void)?

    package init(outcome: RequestOutcome, settle: (@Sendable () async throws(SharedCoreError) -> Void)? = nil) {
        self.outcome = outcome
        self.settle = settle
    }
}
