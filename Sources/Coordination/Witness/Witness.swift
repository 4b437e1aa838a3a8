public import CoreAPI

/// An observer of cores that knows nothing of the order of commits: it sees what really runs.
///
/// The order cannot show two owners at once, because it could not record them. The witness can: each core tells it
/// when it starts, and learns then which other cores run.
///
/// Source: contract C15.
public protocol Witness: Sendable {
    /// Says that the core of an epoch runs from now on.
    func begin(epoch: Revision) throws(SharedCoreError) -> any WitnessHold
}

/// A running core, as a witness knows it. It lasts until ``end()``, or until the process dies.
public protocol WitnessHold: Sendable {
    /// The epochs of the other cores that ran when this one began, in rising order.
    ///
    /// The core that began first may not have seen the other; the one that began second has.
    var others: [Revision] { get }

    /// The epochs of the other cores that run now. A process that was just killed may show for the moment that the
    /// system takes to close its files; a core that really runs shows in the next look too.
    func currentOthers() throws(SharedCoreError) -> [Revision]

    /// Says that the core has stopped. Idempotent.
    func end()
}
