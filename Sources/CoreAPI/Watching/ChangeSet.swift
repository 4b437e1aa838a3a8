/// The changes of one commit to the keys that a watch selects. Never split over two deliveries.
public struct ChangeSet: Hashable, Sendable {
    /// The commit.
    public let revision: Revision
    /// The session that made it. For an end or an expiry, the session that wrote the entries.
    public let origin: SessionID
    /// The changes, one for each key at most.
    public let changes: [Change]

    public init(revision: Revision, origin: SessionID, changes: [Change]) {
        self.revision = revision
        self.origin = origin
        self.changes = changes
    }
}
