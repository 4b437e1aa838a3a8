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
    /// The commit that created the entry. It changes only when the entry was gone in between, so it serves as the
    /// fencing token, the *epoch*, of its creator.
    public let creationRevision: Revision
    /// The time that it lives by itself.
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
    /// For a duration after it was written, by a clock that no change of the wall clock moves.
    ///
    /// The entry never ends early, and at most one second late while a participant has the group open. Time with the
    /// machine off does not count, and each start of the machine may add at most one full duration.
    case expiring(after: Duration)
}

/// The entries under a selection of keys as they stood together at one revision.
public struct Snapshot: Hashable, Sendable {
    /// Every commit up to and with this one is reflected.
    public let revision: Revision
    /// The entries in the order of their keys' bytes.
    public let entries: [Entry]

    public init(revision: Revision, entries: [Entry]) {
        self.revision = revision
        self.entries = entries
    }
}

/// A place in the one order of a store's commits.
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
