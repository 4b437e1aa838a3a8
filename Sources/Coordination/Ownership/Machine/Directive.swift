package import CoreAPI

/// One action that a machine requests before its next step.
package enum Directive: Hashable, Sendable {
    /// Commit, then read the ownership.
    case commit(Transition)
    /// Read a linearizable snapshot of ``OwnershipKey/path``.
    case look
    /// Make the group end the sessions of dead processes, then read.
    case bury
    /// Start a core under an epoch.
    case startCore(epoch: Revision)
    /// Make the core of an epoch stop.
    case stopCore(epoch: Revision)
    /// Resume the quiet core of an epoch.
    case resumeCore(epoch: Revision)
    /// Check whether the process of a silent holder is stopped.
    case examine(ProcessIdentity, claim: Revision)
    /// Kill the process of an owner, then read the ownership.
    case kill(ProcessIdentity, epoch: Revision)

    package var isCommit: Bool {
        if case .commit = self { true } else { false }
    }
}

/// A commit that changes the records under ``OwnershipKey/path``, with its entries for the timeline.
///
/// It is safe even if the store has changed since the view from which it was made: its guards then fail.
package struct Transition: Hashable, Sendable {
    /// The conditions and operations, without the timeline's.
    package var transaction: Transaction
    /// The entries for the timeline, in the same commit; empty if there is nothing to record.
    package var timelineEvents: [OwnershipEvent]
    /// Its effect on the baton that the participant has given; nil if it has none.
    package var baton: BatonStep?

    /// True if it offers the ownership of a Main that is about to rest.
    package var offersRest: Bool {
        transaction.operations.contains { if case .put(OwnershipKey.rest, _, _) = $0 { true } else { false } }
    }

    /// The fail point after its commit, at which a test may stop or end the process; nil if there is none.
    package var place: StaticString? {
        if offersRest { return "rest.offered" }
        if baton == .offers { return "baton.offered" }
        return switch timelineEvents.last?.kind {
        case .asked: "handover.asked"
        case .rested: "rest.taken"
        case .woken: "rest.woken"
        case .resumed: "rest.resumed"
        default: nil
        }
    }

    /// True if it makes the participant own.
    package var acquires: Bool { timelineEvents.contains { $0.kind.isAcquisition } }

    package init(transaction: Transaction, timelineEvents: [OwnershipEvent] = []) {
        self.transaction = transaction
        self.timelineEvents = timelineEvents
    }
}

/// A timeline entry about a transition, before its author and its time are added. The time is that of the commit.
package struct OwnershipEvent: Hashable, Sendable {
    package var kind: TimelineEntry.Kind
    /// The participant's own ownership; nil for an acquisition, which gets its epoch by its own commit.
    package var epoch: Revision?
    /// The ownership of another participant that the entry is about.
    package var other: Revision?
    package var from: OwnerState?
    package var to: OwnerState?
    /// For a take-over: the ownership that it ended, and why.
    package var previous: PreviousOwnership?
    /// A time that goes with it.
    package var bound: Duration?
    /// One sentence for people.
    package var reason: String

    package init(
        kind: TimelineEntry.Kind, epoch: Revision? = nil, other: Revision? = nil, from: OwnerState? = nil,
        to: OwnerState? = nil, previous: PreviousOwnership? = nil, bound: Duration? = nil, reason: String
    ) {
        self.kind = kind
        self.epoch = epoch
        self.other = other
        self.from = from
        self.to = to
        self.previous = previous
        self.bound = bound
        self.reason = reason
    }
}
