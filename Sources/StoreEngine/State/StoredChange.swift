public import CoreAPI

/// What a commit did to one key, before its values are fetched.
public struct StoredChange: Sendable {
    public let key: Key
    public let kind: Change.Kind
    public let old: StoredEntry?
    public let new: StoredEntry?

    /// The change with its values, as users see it.
    public func change() throws(SharedCoreError) -> Change {
        Change(key: key, kind: kind, old: try old?.entry(for: key), new: try new?.entry(for: key))
    }

    /// Whether the values are still where they lay: a journal that was replaced gives its space back.
    var canBeFetched: Bool {
        (old?.value.canBeFetched ?? true) && (new?.value.canBeFetched ?? true)
    }

    /// Whether nothing stood there before and nothing does after: the key was written and removed in one transaction.
    var isNothing: Bool { old == nil && new == nil }

    /// What the change costs a history in memory.
    var residentByteCount: Int {
        128 + key.text.utf8.count + (old?.value.residentByteCount ?? 0) + (new?.value.residentByteCount ?? 0)
    }
}
