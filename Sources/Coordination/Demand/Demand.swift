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

/// How long an Executor's core runs: while any call waits for a message that is not there, and a little longer, within
/// the process's budget. While an activity is open it runs in any case.
///
/// Source: contract C9, C17.
package struct CoreRunPolicy: Hashable, Sendable {
    package enum Decision: Hashable, Sendable {
        /// The core goes on; the question is due again at this moment.
        case run(until: BootInstant)
        /// All calls have been served.
        case done
        /// The process's time is up; the next one that waits takes over.
        case spent
    }

    /// How long the core may run.
    package let budget: Duration
    /// How long it goes on when no call waits, so that the next push of a burst finds it running.
    package let linger: Duration
    private let start: BootInstant
    private var quietSince: BootInstant?
    private var lastChange = Revision.zero

    package init(budget: Duration, linger: Duration, from start: BootInstant) {
        self.budget = budget
        self.linger = linger
        self.start = start
    }

    /// - Parameters:
    ///   - openUntil: The latest deadline of the calls that wait; nil when none does.
    ///   - change: The last commit with which a message or an expectation came or went. While they come and go, it is
    ///     not quiet.
    ///   - busyUntil: When the bound of the last open activity passes; nil when none is open.
    package mutating func decide(
        openUntil: BootInstant?, lastChange change: Revision = .zero, busyUntil: BootInstant? = nil, at now: BootInstant
    ) -> Decision {
        let end = start.advanced(by: budget)
        if change > lastChange {
            lastChange = change
            quietSince = nil
        }
        if let busyUntil, now < busyUntil {
            quietSince = nil
            return .run(until: busyUntil)
        }
        guard now < end else { return .spent }
        if let openUntil {
            quietSince = nil
            return .run(until: min(end, openUntil))
        }
        let quiet = quietSince ?? now
        quietSince = quiet
        let limit = quiet.advanced(by: linger)
        return now < limit ? .run(until: min(end, limit)) : .done
    }
}
