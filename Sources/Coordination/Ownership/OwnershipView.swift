package import CoreAPI

/// All that stands under ``OwnershipKey/path`` at one revision.
package struct OwnershipView: Hashable, Sendable {
    package private(set) var revision = Revision.zero
    package private(set) var owner: Standing<OwnerRecord>?
    package private(set) var handover: Standing<HandoverRecord>?
    package private(set) var critical: Standing<CriticalRecord>?
    package private(set) var challenge: Standing<ChallengeRecord>?
    package private(set) var answer: Standing<AnswerRecord>?

    package init() {}

    /// Takes in a snapshot of the path. One that is older than what is known changes nothing.
    package mutating func apply(_ snapshot: Snapshot) {
        guard snapshot.revision >= revision else { return }
        self = OwnershipView()
        revision = snapshot.revision
        for entry in snapshot.entries { set(entry.key, to: entry) }
    }

    /// Takes in what a watch of the path delivers. What is known already changes nothing.
    package mutating func apply(_ event: WatchEvent) {
        switch event {
        case .snapshot(let snapshot), .lagged(let snapshot):
            apply(snapshot)
        case .changes(let changes):
            guard changes.revision > revision else { return }
            revision = changes.revision
            for change in changes.changes { set(change.key, to: change.new) }
        }
    }

    private mutating func set(_ key: Key, to entry: Entry?) {
        switch key {
        case OwnershipKey.owner: owner = entry.map(Standing.init)
        case OwnershipKey.handover: handover = entry.map(Standing.init)
        case OwnershipKey.critical: critical = entry.map(Standing.init)
        case OwnershipKey.challenge: challenge = entry.map(Standing.init)
        case OwnershipKey.answer: answer = entry.map(Standing.init)
        default: break
        }
    }
}
