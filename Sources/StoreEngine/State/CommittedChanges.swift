public import CoreAPI

/// The changes of one commit.
public struct CommittedChanges: OrderElement {
    public let revision: Revision
    public let origin: SessionID
    public let changes: [StoredChange]

    public var residentByteCount: Int {
        changes.reduce(64) { $0 + $1.residentByteCount }
    }

    /// What the commit costs with its values, wherever they lie.
    var wholeByteCount: Int {
        changes.reduce(64) {
            $0 + 128 + $1.key.text.utf8.count + ($1.old?.value.count ?? 0) + ($1.new?.value.count ?? 0)
        }
    }
}
