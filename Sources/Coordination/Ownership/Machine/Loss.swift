internal import CoreAPI

/// The end of an ownership that its holder did not bring about.
struct Loss: Hashable, Sendable {
    /// What was lost.
    let epoch: Revision
    /// Who owns instead; nil when nobody does.
    let successor: Standing<OwnerRecord>?
}
