/// How much of a service there is.
///
/// Source: contract P1.
public enum ServiceLevel: String, CaseIterable, Hashable, Sendable, Codable {
    /// All of it.
    case normal
    /// The call stands and can be controlled; no media flows.
    case signalingOnly
    /// A part, which the row of the table names: presence is published by itself when the state of a call changes, and
    /// not otherwise.
    case limited
    /// Nothing. What is pending is finished, then the service rests and refuses what is new.
    case none
}
