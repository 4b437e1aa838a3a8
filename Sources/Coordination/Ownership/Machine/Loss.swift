package import CoreAPI

/// The end of an ownership that its holder did not bring about.
package struct Loss: Hashable, Sendable {
    /// What was lost.
    package let epoch: Revision
    /// Who owns instead; nil when nobody does.
    package let successor: Standing<OwnerRecord>?
}
