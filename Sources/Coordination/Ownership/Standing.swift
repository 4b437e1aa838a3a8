internal import CoreAPI

/// A record together with its place in the store.
struct Standing<Record: StoredRecord>: Hashable, Sendable {
    let record: Record
    /// The commit that created the entry: the holder's claim.
    let claim: Revision
    /// The commit that wrote it last.
    let revision: Revision
    /// Who wrote it.
    let session: SessionID

    init(_ entry: Entry) {
        record = Record(bytes: entry.value)
        claim = entry.creationRevision
        revision = entry.revision
        session = entry.origin
    }
}
