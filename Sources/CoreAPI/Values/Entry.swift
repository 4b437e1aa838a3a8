/// What stands in a store under a key.
///
/// Source: contract S1.
public struct Entry: Hashable, Sendable {
    /// The key it stands under.
    public let key: Key
    /// The bytes that were put; an empty value is a value.
    public let value: [UInt8]
    /// The commit that wrote this value.
    public let revision: Revision
    /// The commit that created the entry. It changes only when the entry was gone in between, so it serves as the
    /// fencing token, the *epoch*, of whoever created it.
    public let creationRevision: Revision
    /// How long it lives by itself.
    public let lifetime: Lifetime
    /// The session that wrote it.
    public let origin: SessionID

    public init(
        key: Key, value: [UInt8], revision: Revision, creationRevision: Revision, lifetime: Lifetime, origin: SessionID
    ) {
        self.key = key
        self.value = value
        self.revision = revision
        self.creationRevision = creationRevision
        self.lifetime = lifetime
        self.origin = origin
    }
}
