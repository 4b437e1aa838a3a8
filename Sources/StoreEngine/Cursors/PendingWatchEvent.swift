public import CoreAPI

/// An event of a watch before its values are fetched, which may take reading from a file.
public enum PendingWatchEvent: Sendable {
    case snapshot(Revision, [(key: Key, entry: StoredEntry)])
    case changes(CommittedChanges)
    case lagged(Revision, [(key: Key, entry: StoredEntry)])

    /// The event as users see it.
    public func event() throws(SharedCoreError) -> WatchEvent {
        switch self {
        case .snapshot(let revision, let entries): .snapshot(try Snapshot(revision: revision, stored: entries))
        case .lagged(let revision, let entries): .lagged(try Snapshot(revision: revision, stored: entries))
        case .changes(let commit):
            .changes(ChangeSet(revision: commit.revision, origin: commit.origin, changes: try commit.resolved()))
        }
    }
}

extension CommittedChanges {
    fileprivate func resolved() throws(SharedCoreError) -> [Change] {
        var resolved: [Change] = []
        resolved.reserveCapacity(changes.count)
        for change in changes { resolved.append(try change.change()) }
        return resolved
    }
}

extension Snapshot {
    /// A snapshot of what a replica keeps, with the values fetched.
    public init(revision: Revision, stored: [(key: Key, entry: StoredEntry)]) throws(SharedCoreError) {
        var entries: [Entry] = []
        entries.reserveCapacity(stored.count)
        for (key, entry) in stored { entries.append(try entry.entry(for: key)) }
        self.init(revision: revision, entries: entries)
    }
}
