package import CoreAPI

/// The effect of a commit on one key, before its values are fetched.
package struct StoredChange: Sendable {
    package let key: Key
    package let kind: Change.Kind
    package let old: StoredEntry?
    package let new: StoredEntry?

    /// Returns the change with its values, for users.
    package func change() throws(SharedCoreError) -> Change {
        Change(key: key, kind: kind, old: try old?.entry(for: key), new: try new?.entry(for: key))
    }

    /// True if the values can still be fetched. After a compaction the old journal frees its space, and external values
    /// in it are lost.
    var canBeFetched: Bool {
        (old?.value.canBeFetched ?? true) && (new?.value.canBeFetched ?? true)
    }

    /// True if the key was absent before and is absent after: one transaction has written and removed it.
    var isNothing: Bool { old == nil && new == nil }

    /// The bytes of memory that the change takes in a history.
    var residentByteCount: Int {
        128 + key.text.utf8.count + (old?.value.residentByteCount ?? 0) + (new?.value.residentByteCount ?? 0)
    }
}

/// The changes of one commit.
package struct CommittedChanges: OrderElement {
    package let revision: Revision
    package let origin: SessionID
    package let changes: [StoredChange]

    package var residentByteCount: Int {
        changes.reduce(64) { $0 + $1.residentByteCount }
    }

    /// The bytes of the commit with its values, including external ones.
    var wholeByteCount: Int {
        changes.reduce(64) {
            $0 + 128 + $1.key.text.utf8.count + ($1.old?.value.count ?? 0) + ($1.new?.value.count ?? 0)
        }
    }
}

/// The changes of one transaction, one for each key: the entry before the first operation on it, and the entry after
/// the last.
struct ChangeCollector {
    private(set) var changes: [StoredChange] = []
    /// The positions of the keys in the changes. Empty while the changes are so few that a linear search is faster: a
    /// commit of coordination has two to four.
    private var positions: [Key: Int] = [:]

    private static let comparedCount = 8

    mutating func add(_ change: StoredChange) {
        guard let position = position(of: change.key) else {
            if changes.count >= Self.comparedCount { positions[change.key] = changes.count }
            changes.append(change)
            return
        }
        changes[position] = StoredChange(
            key: change.key, kind: change.kind, old: changes[position].old, new: change.new)
    }

    private mutating func position(of key: Key) -> Int? {
        guard changes.count >= Self.comparedCount else { return changes.firstIndex { $0.key == key } }
        if positions.isEmpty { for (position, change) in changes.enumerated() { positions[change.key] = position } }
        return positions[key]
    }
}
