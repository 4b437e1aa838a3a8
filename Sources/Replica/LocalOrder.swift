package import CoreAPI
package import StoreEngine

/// The order of a group as a backend of one machine keeps it: the base of a hub.
///
/// It takes part in the group without a session of its own. Releasing it stops everything that it does.
package protocol LocalOrder: AnyObject, Sendable {
    /// The capabilities of a participant at this order.
    var capabilities: Capabilities { get }
    /// A number of the order: another one when earlier knowledge of the order is no longer valid.
    var incarnation: UInt64 { get }
    /// The clock that the group lives by.
    var clock: any TimeSource { get }
    /// The state, which keeps the latest effects.
    var replica: Replica { get }

    /// Brings the replica up to date: it reflects every commit that had returned anywhere before the call, and holds no
    /// entry whose time is over.
    func refresh() async throws(SharedCoreError)

    /// Gets a request its place in the order. The outcome is in the replica when this returns, and lasts as promised
    /// when ``Recorded/settle`` has returned. Requests are recorded in the order in which they are given.
    func record(_ request: OrderRequest) async throws(SharedCoreError) -> Recorded

    /// Returns how the order frees space for a transaction by compacting; nil where it has no such need, as for an
    /// ending.
    func room(for transaction: Transaction) -> OrderRoom?

    /// Records the end of every session that is known here to be dead.
    func endDead() async throws(SharedCoreError)

    /// Marks the only hub of the group as serving or not. While it serves, no other process receives every change in
    /// the way that a hub does, so this process need not notify itself of its own records in that way.
    func setServing(_ isServing: Bool)
}

extension LocalOrder {
    package func room(for transaction: Transaction) -> OrderRoom? { nil }

    package func setServing(_ isServing: Bool) {}
}

/// The ways in which an order frees space for content. Both functions compact and may take long.
package struct OrderRoom: Sendable {
    /// Frees space before the content is recorded; nil when it need not wait.
    package let make: (@Sendable () async -> Void)?
    /// Frees space after the content was refused as `storageFull`, and returns whether it is to be tried once more.
    package let regain: @Sendable () async -> Bool

    package init(make: (@Sendable () async -> Void)?, regain: @escaping @Sendable () async -> Bool) {
        self.make = make
        self.regain = regain
    }
}

/// The outcome of a request.
package struct Recorded: Sendable {
    package let outcome: RequestOutcome
    /// Returns when it lasts as promised; nil when it does already.
    package let settle: (@Sendable () async throws(SharedCoreError) -> Void)?

    package init(outcome: RequestOutcome, settle: (@Sendable () async throws(SharedCoreError) -> Void)? = nil) {
        self.outcome = outcome
        self.settle = settle
    }
}
