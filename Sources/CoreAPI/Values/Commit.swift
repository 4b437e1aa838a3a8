/// The result of a transaction that took effect.
public struct Commit: Hashable, Sendable {
    /// The revision at which the transaction stands. For one that changed nothing, the revision of the store then.
    public let revision: Revision
    /// Whether anything changed: false when all that was asked for was to delete what was not there.
    public let changed: Bool

    public init(revision: Revision, changed: Bool) {
        self.revision = revision
        self.changed = changed
    }
}
