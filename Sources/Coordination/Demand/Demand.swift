package import CoreAPI
package import Mailboxes

/// What the group still waits for: the expectations, without those that the inbox has an answer for.
///
/// Source: contract C9.
package struct Demand: Sendable {
    /// The keys that demand is made of.
    package static let prefixes: [KeyPrefix] = [Expectation.path, ".sharedcore/inbox/"]

    package private(set) var revision = Revision.zero
    private let inbox: QueueKeys
    private let bootID: BootID
    private var deadlines: [ItemName: [Key: BootInstant]] = [:]
    private var answers: [ItemName: Set<QueueKeys.Part>] = [:]

    package init(of inbox: QueueKeys, in bootID: BootID) {
        self.inbox = inbox
        self.bootID = bootID
    }

    /// Takes in what a watch of ``prefixes`` delivers.
    package mutating func apply(_ event: WatchEvent) {
        switch event {
        case .snapshot(let snapshot), .lagged(let snapshot):
            deadlines = [:]
            answers = [:]
            for entry in snapshot.entries { set(entry.key, to: entry) }
        case .changes(let changes):
            for change in changes.changes { set(change.key, to: change.new) }
        }
        revision = event.revision
    }

    /// The latest deadline of the calls whose message is not there; nil when there are none.
    package func openUntil(after now: BootInstant) -> BootInstant? {
        var latest: BootInstant?
        for (item, deadlines) in deadlines where answers[item] == nil {
            for deadline in deadlines.values where deadline > now { latest = max(latest ?? deadline, deadline) }
        }
        return latest
    }

    private mutating func set(_ key: Key, to entry: Entry?) {
        if let place = Expectation.place(of: key) {
            let expectation = entry.map { Expectation(bytes: $0.value) }
            let isOfThisRun = expectation?.bootID == bootID
            deadlines[place.item, default: [:]][key] = isOfThisRun ? expectation?.deadline : nil
            if deadlines[place.item]?.isEmpty == true { deadlines[place.item] = nil }
        } else if let place = inbox.place(of: key), place.part != .take {
            if entry == nil {
                answers[place.item]?.remove(place.part)
            } else {
                answers[place.item, default: []].insert(place.part)
            }
            if answers[place.item]?.isEmpty == true { answers[place.item] = nil }
        }
    }
}
