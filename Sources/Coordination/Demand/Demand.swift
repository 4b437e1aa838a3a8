package import CoreAPI
package import Mailboxes

/// The group's open demand: the expectations for which the inbox has no answer.
///
/// Source: contract C9.
package struct Demand: Sendable {
    /// The prefixes of the keys from which the demand is computed.
    package static let prefixes: [KeyPrefix] = [Expectation.path, ".sharedcore/inbox/"]

    package private(set) var revision = Revision.zero
    private let inbox: QueueKeys
    private let bootID: BootID
    /// The waiting calls, by the inbox item of their call-id.
    private var calls: [ItemName: [Key: Call]] = [:]
    /// The messages and marks in the inbox, by the item of their call-id.
    private var answers: [ItemName: Set<Answer>] = [:]

    private struct Call: Hashable {
        let sequence: String?
        let deadline: BootInstant
    }

    private struct Answer: Hashable {
        let sequence: String?
        let part: QueueKeys.Part
    }

    package init(of inbox: QueueKeys, in bootID: BootID) {
        self.inbox = inbox
        self.bootID = bootID
    }

    /// Applies an event of a watch of ``prefixes``.
    package mutating func apply(_ event: WatchEvent) {
        switch event {
        case .snapshot(let snapshot), .lagged(let snapshot):
            calls = [:]
            answers = [:]
            for entry in snapshot.entries { set(entry.key, to: entry) }
        case .changes(let changes):
            for change in changes.changes { set(change.key, to: change.new) }
        }
        revision = event.revision
    }

    /// Returns the latest deadline of the calls that still wait for their message; nil if none waits.
    package func openUntil(after now: BootInstant) -> BootInstant? {
        var latest: BootInstant?
        for (item, calls) in calls {
            for call in calls.values where call.deadline > now && !isAnswered(call, of: item) {
                latest = max(latest ?? call.deadline, call.deadline)
            }
        }
        return latest
    }

    private func isAnswered(_ call: Call, of item: ItemName) -> Bool {
        answers[item]?.contains { MessageID.matches($0.sequence, call.sequence) } ?? false
    }

    private mutating func set(_ key: Key, to entry: Entry?) {
        if let place = Expectation.place(of: key) {
            let expectation = entry.map { Expectation(bytes: $0.value) }
            let isOfThisRun = expectation?.bootID == bootID
            let (item, sequence) = place.item.parts
            let deadline = isOfThisRun ? expectation?.deadline : nil
            calls[item, default: [:]][key] = deadline.map { Call(sequence: sequence, deadline: $0) }
            if calls[item]?.isEmpty == true { calls[item] = nil }
        } else if let place = inbox.place(of: key), place.part == .message || place.part == .mark {
            let (item, sequence) = place.item.parts
            let answer = Answer(sequence: sequence, part: place.part)
            if entry == nil {
                answers[item]?.remove(answer)
            } else {
                answers[item, default: []].insert(answer)
            }
            if answers[item]?.isEmpty == true { answers[item] = nil }
        }
    }
}

/// Decides how long an Executor's core runs: while any call waits for a message that has not come, and for the linger
/// time after that, within the process's budget. While an activity is open the core runs in any case.
///
/// Source: contract C9, C17.
package struct CoreRunPolicy: Hashable, Sendable {
    package enum Decision: Hashable, Sendable {
        /// The core runs on; ask the policy again at this moment.
        case run(until: BootInstant)
        /// All calls have been served.
        case done
        /// The process's budget is used up. The core stops, and the next waiting participant becomes the owner.
        case spent
    }

    /// How long the core may run.
    package let budget: Duration
    /// How long the core runs on when no call waits, so that the next push of a burst finds it running.
    package let linger: Duration
    private let start: BootInstant
    private var quietSince: BootInstant?
    private var lastChange = Revision.zero

    package init(budget: Duration, linger: Duration, from start: BootInstant) {
        self.budget = budget
        self.linger = linger
        self.start = start
    }

    /// Decides whether the core runs on.
    ///
    /// - Parameters:
    ///   - openUntil: The latest deadline of the waiting calls; nil if no call waits.
    ///   - change: The last commit that added or removed a message or an expectation. The linger time begins anew with
    ///     each.
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
