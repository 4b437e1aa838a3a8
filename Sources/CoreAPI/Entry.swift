/// A key's entry in a store.
///
/// Source: contract S1.
public struct Entry: Hashable, Sendable {
    /// The entry's key.
    public let key: Key
    /// The bytes that were put; an empty value is a value.
    public let value: [UInt8]
    /// The commit that wrote this value.
    public let revision: Revision
    /// The commit that created the entry. It changes only if the entry was removed and created again, so it serves as
    /// the fencing token of the creator: the *epoch*.
    public let creationRevision: Revision
    /// How long the entry lives if no transaction deletes it.
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

/// How long an entry lives if it is not deleted.
///
/// Source: contract S8.
public enum Lifetime: Hashable, Sendable {
    /// Until deleted.
    case persistent
    /// Until the session that wrote it ends; gone in the same revision as the session.
    case session
    /// For a duration after it was written. The boot clock measures the duration, so changes of the wall clock have no
    /// effect.
    ///
    /// The entry never expires early. It expires at most one second late while a participant has the group open. Time
    /// while the machine is off does not count, and each start of the machine may lengthen the entry's life by up to
    /// the full duration.
    case expiring(after: Duration)
}

/// The entries under a selection of keys, all at one revision.
public struct Snapshot: Hashable, Sendable {
    /// The snapshot reflects every commit up to and including this one.
    public let revision: Revision
    /// The entries in the order of their keys' bytes.
    public let entries: [Entry]

    public init(revision: Revision, entries: [Entry]) {
        self.revision = revision
        self.entries = entries
    }
}

/// The position of a commit in the order of all commits of a store.
///
/// Revisions rise strictly over all keys, deletions and restarts, and are never used twice. They are not dense: a
/// restart after a power loss leaves a gap.
///
/// Source: contract S3.
public struct Revision: RawRepresentable, Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The revision before the first commit.
    public static let zero = Revision(rawValue: 0)

    public let rawValue: UInt64

    public init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    public var description: String { String(rawValue) }

    public static func < (left: Revision, right: Revision) -> Bool {
        left.rawValue < right.rawValue
    }
}
