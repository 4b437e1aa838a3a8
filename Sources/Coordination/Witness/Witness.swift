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
