package import CoreAPI

/// A record together with its place in the store.
package struct Standing<Record: StoredRecord>: Hashable, Sendable {
    package let record: Record
    /// The commit that created the entry: the holder's claim.
    package let claim: Revision
    /// The commit that wrote it last.
    package let revision: Revision
    /// Who wrote it.
    package let session: SessionID

    package init(_ entry: Entry) {
        record = Record(bytes: entry.value)
        claim = entry.creationRevision
        revision = entry.revision
        session = entry.origin
    }
}
