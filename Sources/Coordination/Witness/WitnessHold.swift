public import CoreAPI

/// That a core runs, as a witness knows it. It lasts until ``end()``, or until the process dies.
public protocol WitnessHold: Sendable {
    /// The epochs of the other cores that ran when this one began, in rising order.
    ///
    /// Whoever began first may not have seen the other; whoever began second has.
    var others: [Revision] { get }

    /// The epochs of the other cores that run now. A process that was just killed may show for the moment that the
    /// system takes to close its files; a core that really runs shows in the next look too.
    func look() throws(SharedCoreError) -> [Revision]

    /// Says that the core has stopped. Idempotent.
    func end()
}
