package import CoreAPI

/// The state that a consumer of a watch knows, updated by applying its events, with every violation of W1 to W3 that
/// was found.
package struct WatchMirror: Sendable {
    /// The entries according to the events.
    package private(set) var entries: [Key: Entry] = [:]
    /// The revision of the last event.
    package private(set) var revision = Revision.zero
    /// The number of received events.
    package private(set) var eventCount = 0
    /// How many of them were ``WatchEvent/lagged(_:)``.
    package private(set) var laggedCount = 0
    /// The revisions of the change sets, in the order in which they came.
    package private(set) var changedRevisions: [Revision] = []
    /// Every change in the order of arrival. Empty if the mirror does not keep them.
    package private(set) var changes: [Change] = []
    /// The breaches of the contract, for people.
    package private(set) var breaches: [String] = []

    private let prefixes: [KeyPrefix]
    private let keepsChanges: Bool
    private let previousValues: Bool
    /// True if the events so far began with a snapshot, so that the entry before each change is known.
    private var isComplete = false

    /// Makes a mirror that has seen no event.
    ///
    /// - Parameters:
    ///   - prefixes: The prefixes that the watch selects.
    ///   - keepsChanges: True to fill ``changes``.
    ///   - previousValues: True if a change contains the entry before it (``Capability/previousValues``).
    package init(of prefixes: [KeyPrefix] = [.all], keepsChanges: Bool = true, previousValues: Bool = true) {
        self.prefixes = prefixes
        self.keepsChanges = keepsChanges
        self.previousValues = previousValues
    }

    package mutating func apply(_ event: WatchEvent) {
        eventCount += 1
        switch event {
        case .snapshot(let snapshot):
            if eventCount != 1 { breach("a snapshot that is not the first event, at revision \(snapshot.revision)") }
            replace(with: snapshot)
        case .lagged(let snapshot):
            laggedCount += 1
            if snapshot.revision < revision {
                breach("a lagged snapshot of revision \(snapshot.revision) after revision \(revision)")
            }
            replace(with: snapshot)
        case .changes(let set):
            apply(set)
        }
    }

    private mutating func replace(with snapshot: Snapshot) {
        revision = snapshot.revision
        isComplete = true
        entries = [:]
        var last: Key?
        for entry in snapshot.entries {
            if let last, !(last < entry.key) { breach("a snapshot out of order: \(last) before \(entry.key)") }
            if !isSelected(entry.key) { breach("a snapshot with the foreign key \(entry.key)") }
            if entry.revision > snapshot.revision { breach("an entry newer than its snapshot: \(entry.key)") }
            last = entry.key
            entries[entry.key] = entry
        }
    }

    private mutating func apply(_ set: ChangeSet) {
        if !(revision < set.revision) { breach("revision \(set.revision) after revision \(revision)") }
        if set.changes.isEmpty { breach("an empty change set at revision \(set.revision)") }
        revision = set.revision
        changedRevisions.append(set.revision)
        var seen: Set<Key> = []
        for change in set.changes {
            if !seen.insert(change.key).inserted { breach("the key \(change.key) twice in revision \(set.revision)") }
            check(change, in: set)
            entries[change.key] = change.new
            if keepsChanges { changes.append(change) }
        }
    }

    private mutating func check(_ change: Change, in set: ChangeSet) {
        let place = "\(change.key) at revision \(set.revision)"
        if !isSelected(change.key) { breach("a change of the foreign key \(place)") }
        if previousValues, isComplete, change.old != entries[change.key] {
            breach("an old value that did not stand there: \(place)")
        }
        // The entry before the change, and true if it is known.
        let old = previousValues ? change.old : entries[change.key]
        let isOldKnown = previousValues || isComplete
        switch change.kind {
        case .put:
            guard let new = change.new else { return breach("a put without a new value: \(place)") }
            if new.key != change.key || new.revision != set.revision { breach("a put of another commit: \(place)") }
            if let old, ![old.creationRevision, set.revision].contains(new.creationRevision) {
                breach("a creation revision that is neither the old one nor this one: \(place)")
            }
            if isOldKnown, old == nil, new.creationRevision != set.revision {
                breach("a creation that does not name its own revision: \(place)")
            }
        case .deleted, .expired, .sessionEnded:
            if change.new != nil { breach("an end with a new value: \(place)") }
            if isOldKnown, old == nil { breach("an end of what did not stand there: \(place)") }
        }
    }

    private func isSelected(_ key: Key) -> Bool {
        prefixes.contains { $0.contains(key) }
    }

    /// True if there are too many breaches to go on.
    var isHopeless: Bool { breaches.count >= 20 }

    private mutating func breach(_ text: String) {
        if !isHopeless { breaches.append(text) }
    }
}
