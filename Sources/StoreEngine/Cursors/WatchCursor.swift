package import CoreAPI

/// A watch's position in the order. It stores no changes: it reads them from the state's history on request.
package struct WatchCursor: Sendable {
    /// The prefixes that the watch selects.
    package let prefixes: [KeyPrefix]
    private var position: Position

    private enum Position: Sendable {
        case snapshotDue
        case after(Revision)
        /// The values of an event could not be fetched, so the watch continues with a snapshot.
        case lost
    }

    /// Creates a cursor at the present state that begins according to `start`.
    package init(prefixes: [KeyPrefix], start: WatchStart, in state: StoreState) {
        self.prefixes = prefixes
        self.position =
            switch start {
            case .snapshot: .snapshotDue
            case .now: .after(state.revision)
            case .after(let revision): .after(revision)
            }
    }

    /// Returns the next event of the watch; nil if there is none in this state.
    package mutating func next(in state: inout StoreState) -> PendingWatchEvent? {
        let revision: Revision
        switch position {
        case .snapshotDue: return snapshot(in: &state, lagged: false)
        case .lost: return snapshot(in: &state, lagged: true)
        case .after(let known): revision = known
        }
        guard revision < state.revision else { return nil }
        guard let commits = state.history.elements(after: revision) else { return snapshot(in: &state, lagged: true) }
        for commit in commits {
            let selected = commit.changes.filter { change in prefixes.contains { $0.contains(change.key) } }
            guard !selected.isEmpty else { continue }
            position = .after(commit.revision)
            return .changes(CommittedChanges(revision: commit.revision, origin: commit.origin, changes: selected))
        }
        position = .after(state.revision)
        return nil
    }

    /// Continues with `lagged` and a snapshot, because an event could not be delivered.
    package mutating func lose() {
        position = .lost
    }

    private mutating func snapshot(in state: inout StoreState, lagged: Bool) -> PendingWatchEvent {
        position = .after(state.revision)
        let entries = state.selection(prefixes)
        return lagged ? .lagged(state.revision, entries) : .snapshot(state.revision, entries)
    }
}

/// An event of a watch before its values are fetched, possibly from a file.
package enum PendingWatchEvent: Sendable {
    case snapshot(Revision, [(key: Key, entry: StoredEntry)])
    case changes(CommittedChanges)
    case lagged(Revision, [(key: Key, entry: StoredEntry)])

    /// Returns the event with its values, for users.
    package func event() throws(SharedCoreError) -> WatchEvent {
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
    /// Makes a snapshot of a replica's entries, with the values fetched.
    package init(revision: Revision, stored: [(key: Key, entry: StoredEntry)]) throws(SharedCoreError) {
        var entries: [Entry] = []
        entries.reserveCapacity(stored.count)
        for (key, entry) in stored { entries.append(try entry.entry(for: key)) }
        self.init(revision: revision, entries: entries)
    }
}
