internal import CoreAPI

/// The changes of one transaction, one for each key: what stood before the first operation on it, and what stands after
/// the last.
struct ChangeCollector {
    private(set) var changes: [StoredChange] = []
    private var positions: [Key: Int] = [:]

    mutating func add(_ change: StoredChange) {
        // Almost every transaction touches a key once; the dictionary is filled only when there is a second change.
        if changes.count == 1, positions.isEmpty { positions[changes[0].key] = 0 }
        guard let position = positions[change.key] else {
            if !changes.isEmpty { positions[change.key] = changes.count }
            changes.append(change)
            return
        }
        changes[position] = StoredChange(
            key: change.key, kind: change.kind, old: changes[position].old, new: change.new)
    }
}
