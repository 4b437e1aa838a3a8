public import CoreAPI

/// The changes of one commit.
public struct CommittedChanges: Sendable {
    public let revision: Revision
    public let origin: SessionID
    public let changes: [StoredChange]
}
