package import CoreAPI

/// All records under ``OwnershipKey/path`` at one revision.
package struct OwnershipView: Hashable, Sendable {
    package private(set) var revision = Revision.zero
    package private(set) var owner: Standing<OwnerRecord>?
    package private(set) var handover: Standing<HandoverRecord>?
    package private(set) var lease: Standing<LeaseRecord>?
    package private(set) var critical: Standing<CriticalRecord>?
    package private(set) var activities: Standing<ActivitiesRecord>?
    package private(set) var moving: Standing<MovingRecord>?
    package private(set) var takes: Standing<TakesRecord>?
    package private(set) var refusal: Standing<RefusalRecord>?
    package private(set) var baton: Standing<BatonRecord>?
    package private(set) var challenge: Standing<ChallengeRecord>?
    package private(set) var answer: Standing<AnswerRecord>?
    package private(set) var rest: Standing<RestRecord>?
    package private(set) var wake: Standing<WakeRecord>?
    package private(set) var holder: Standing<HolderRecord>?
    package private(set) var batonHost: Standing<BatonHostRecord>?
    /// For each activity with a recorded beginning that was in the future when it was first seen: the time at which it
    /// was seen.
    private var seenAhead: [Activity: BootInstant] = [:]

    package init() {}

    /// Applies a snapshot of the path. A snapshot that is older than the view changes nothing.
    package mutating func apply(_ snapshot: Snapshot, at now: BootInstant) {
        guard snapshot.revision >= revision else { return }
        let seenAhead = seenAhead
        self = OwnershipView()
        self.seenAhead = seenAhead
        revision = snapshot.revision
        for entry in snapshot.entries { set(entry.key, to: entry) }
        join()
        noteBeginnings(at: now)
    }

    /// Applies an event of a watch of the path. An event that is known already changes nothing.
    package mutating func apply(_ event: WatchEvent, at now: BootInstant) {
        switch event {
        case .snapshot(let snapshot), .lagged(let snapshot):
            apply(snapshot, at: now)
        case .changes(let changes):
            guard changes.revision > revision else { return }
            revision = changes.revision
            for change in changes.changes { set(change.key, to: change.new) }
            join()
            noteBeginnings(at: now)
        }
    }

    /// Fills in the kinds of batons that the author of the pending request takes, and its reach.
    private mutating func join() {
        guard let standing = handover else { return }
        let taken = takes.flatMap { $0.isAbout(standing) ? $0.record : nil } ?? .unreadable
        handover?.record.takes = taken.kinds
        handover?.record.reach = taken.reach
    }

    private mutating func noteBeginnings(at now: BootInstant) {
        guard let record = activities?.record else { return seenAhead = [:] }
        let ahead = record.activities.compactMap { activity in
            (seenAhead[activity] ?? (activity.begun > now ? now : nil)).map { (activity, $0) }
        }
        seenAhead = Dictionary(ahead, uniquingKeysWith: { first, _ in first })
    }

    private mutating func set(_ key: Key, to entry: Entry?) {
        switch key {
        case OwnershipKey.owner: owner = entry.map(Standing.init)
        case OwnershipKey.handover: handover = entry.map(Standing.init)
        case OwnershipKey.lease: lease = entry.map(Standing.init)
        case OwnershipKey.critical: critical = entry.map(Standing.init)
        case OwnershipKey.activities: activities = entry.map(Standing.init)
        case OwnershipKey.moving: moving = entry.map(Standing.init)
        case OwnershipKey.takes: takes = entry.map(Standing.init)
        case OwnershipKey.refusal: refusal = entry.map(Standing.init)
        case OwnershipKey.baton: baton = entry.map(Standing.init)
        case OwnershipKey.challenge: challenge = entry.map(Standing.init)
        case OwnershipKey.answer: answer = entry.map(Standing.init)
        case OwnershipKey.rest: rest = entry.map(Standing.init)
        case OwnershipKey.wake: wake = entry.map(Standing.init)
        case OwnershipKey.holder: holder = entry.map(Standing.init)
        case OwnershipKey.batonHost: batonHost = entry.map(Standing.init)
        default: break
        }
    }
}

extension OwnershipView {
    /// The sessions with records here: the end of one of them changes the view.
    package var sessions: Set<SessionID> {
        let all: [SessionID?] = [
            owner?.session, handover?.session, lease?.session, critical?.session, activities?.session, moving?.session,
            takes?.session, refusal?.session, baton?.session, challenge?.session, answer?.session, rest?.session,
            wake?.session, holder?.session, batonHost?.session,
        ]
        return Set(all.compactMap(\.self))
    }

    /// Returns the lease of an owner's session; nil if it has none. The lease of an earlier owner may exist beside it.
    package func lease(of owner: Standing<OwnerRecord>) -> Duration? {
        guard let lease, lease.revision == owner.claim, lease.session == owner.session else { return nil }
        return lease.record.duration
    }

    /// Returns the activities of an ownership; nil when none is open.
    ///
    /// A beginning in the future is replaced by the time at which it was seen: any participant can write the record,
    /// and a future beginning must not lengthen the bound.
    package func activities(of epoch: Revision) -> ActivitiesRecord? {
        guard var record = activities?.record, record.epoch == epoch, !record.activities.isEmpty else { return nil }
        if moving != nil || !seenAhead.isEmpty {
            record.activities = record.activities.map { activity in
                // Join first, because a moving item is found by the recorded beginning, which the next line may
                // replace.
                var joined = moving?.record.joined(activity, of: epoch) ?? activity
                joined.begun = seenAhead[activity] ?? activity.begun
                return joined
            }
        }
        return record
    }
}
