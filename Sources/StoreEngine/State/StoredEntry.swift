public import CoreAPI

/// What a replica keeps under a key.
public struct StoredEntry: Sendable {
    public let value: StoredValue
    public let revision: Revision
    public let creationRevision: Revision
    public let lifetime: Lifetime
    public let origin: SessionID
    /// When an expiring entry's time is over, in the present run of the machine.
    public let expiry: BootInstant?

    package init(
        value: StoredValue, revision: Revision, creationRevision: Revision, lifetime: Lifetime, origin: SessionID,
        expiry: BootInstant?
    ) {
        self.value = value
        self.revision = revision
        self.creationRevision = creationRevision
        self.lifetime = lifetime
        self.origin = origin
        self.expiry = expiry
    }

    /// The entry with its bytes, as users see it.
    public consuming func entry(for key: Key) throws(SharedCoreError) -> Entry {
        Entry(
            key: key, value: try value.bytes(), revision: revision, creationRevision: creationRevision,
            lifetime: lifetime, origin: origin)
    }
}
