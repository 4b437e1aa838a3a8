package import CoreAPI

/// The rules of ownership for one participant: from its view of the store and the time, it computes the next action.
///
/// The machine is a value without I/O or clock. It is *level-triggered*: each step reads the known state of the store
/// (``view``), the goal of its participant (``goal``) and the state of its core, and returns one next action. A step
/// may be repeated and may miss any number of changes, because the guards of each commit check everything that the step
/// relied on. Time is given with each step and chance comes from a seed, so a schedule can be replayed.
///
/// Source: contract C1-C6, C13, C14, C16, C17, C19, C26.
package struct OwnershipMachine: Sendable {
    package let myself: Participation
    package let rules: OwnershipRules
    package var random: SeededRandom

    /// The known state of the store.
    package var view = OwnershipView()
    /// The participant's goal.
    package var goal = OwnershipGoal.nothing(because: .nothingAsked)
    /// True if a request of this Main does not wait for the owner's activities.
    package var insists = false
    /// True if this participant waits for its turn behind a Main that answers challenges, instead of being refused.
    package var waitsItsTurn = false
    /// The known state of the own session's lease; nil if the session ends with its process alone.
    package var lease: SessionLease?
    /// The core that was cut off and given up, for as long as it runs: no other is started beside it.
    package var leftover: Revision?
    /// A timeline entry about a core that lost its ownership, if the store did not accept it. The machine writes it
    /// again.
    package var untold: OwnershipEvent?
    /// The baton that was given here, until its core knows what became of it.
    package var given: GivenBaton?
    /// The ownership that this participant holds.
    package private(set) var holding: Holding?
    /// The core that runs here.
    package var core: LocalCore?
    /// The pause after a core failed, in which ownership is not sought; nil outside of it.
    package var rest: CoreRest?

    /// True if this Main wants to rest, and its core is quiet.
    package var wantsRest = false
    /// The time since its offer was made.
    package var offered: RunningTime?
    /// True from the commit of an offer until the offer is seen. The holder may have refused it before the commit
    /// returned.
    package var hasOffered = false
    /// The time for which it has waited for another resting Main to resume.
    package var wakeWait: WakeWait?
    /// The reason to resume if no wake gives one.
    package var wakeReason = Wake.user
    /// The reason that the core is given when it resumes.
    package var wokenFor = Wake.user

    /// The refusal of the present goal; nil once it no longer applies.
    package var refusal: Refusal?
    /// An ownership that was lost, until the participant reads it.
    package private(set) var loss: Loss?

    /// True if this Main stopped because another Main takes over. It does not ask for ownership again.
    package var hasYielded = false

    /// When the next step is due if nothing changes before.
    package internal(set) var nextStep: BootInstant

    /// True if other sessions have waited longer, and so challenge the holder. This participant then delays its first
    /// challenge of the next claim that it watches.
    package var waitsBehindOthers = false
    package var watched: WatchedClaim?
    package var hearing: Hearing?
    package var handoverWait: HandoverWait?
    /// The time limit of the owner's critical section at the time when this participant asked.
    package var granted: (epoch: Revision, bound: Duration)?
    package var lastLook: BootInstant
    package var lastBurial: (claim: Revision, at: BootInstant, holds: Duration)?
    package private(set) var retryAt: BootInstant?

    package init(for myself: Participation, rules: OwnershipRules, seed: UInt64, at now: BootInstant) {
        self.myself = myself
        self.rules = rules
        self.random = SeededRandom(seed: seed)
        self.nextStep = now
        self.lastLook = now
    }

    /// An ownership that this participant has.
    package struct Holding: Hashable, Sendable {
        /// The revision of its acquisition.
        package let epoch: Revision
        /// The timeline entries of its end, once the end is decided.
        package var ending: [OwnershipEvent]?
        /// True while its release is under way.
        package var isReleasing = false
        /// The time since which the store has refused its release; nil if it does not.
        package var isStuckSince: BootInstant?
    }

    /// Returns the next action; nil when there is nothing to do before ``nextStep`` or a change.
    package mutating func step(at now: BootInstant) -> Directive? {
        nextStep = now.advanced(by: lookInterval)
        settle()
        if let refusal, !stands(refusal) { self.refusal = nil }
        if let directive = stopOrphanedCore(at: now) ?? stopInDoubt(at: now) { return directive }
        if let retryAt, now < retryAt {
            wake(at: retryAt)
            return nil
        }
        retryAt = nil
        if let timelineEvent = untold {
            untold = nil
            return tell(timelineEvent)
        }
        switch rest(at: now) {
        case .act(let directive): return directive
        case .waits: return nil
        case .isAwake: break
        }
        if let directive = answer() ?? settleBaton(at: now) ?? hold(at: now) ?? withdraw() ?? seek(at: now) {
            return directive
        }
        let nextLook = lastLook.advanced(by: lookInterval)
        if nextLook <= now {
            lastLook = now
            return .look
        }
        wake(at: nextLook)
        return nil
    }

    /// Records that a directive failed for a reason that a read of the store does not show.
    package mutating func failed(at now: BootInstant) {
        retryAt = now.advanced(by: rules.retryInterval)
    }

    /// Records that a commit was refused or has an unknown outcome. A pending release counts as not done.
    package mutating func refused(at now: BootInstant) {
        guard var held = holding, held.isReleasing else { return }
        held.isReleasing = false
        held.isStuckSince = held.isStuckSince ?? now
        holding = held
    }

    /// Returns true if the store has refused the release of the ownership for as long as a core may take to stop.
    /// Further attempts are useless then; the ownership ends with the session.
    package func isStuck(at now: BootInstant) -> Bool {
        holding?.isStuckSince.map { $0.advanced(by: rules.stopTimeout) <= now } ?? false
    }

    /// Returns the lost ownership once, if one was lost.
    package mutating func takeLoss() -> Loss? {
        defer { loss = nil }
        return loss
    }

    /// Asks for a step at `instant` at the latest.
    package mutating func wake(at instant: BootInstant) {
        nextStep = min(nextStep, instant)
    }

    package mutating func noteRelease(telling ending: [OwnershipEvent]) {
        holding?.ending = ending
        holding?.isReleasing = true
    }

    /// True if the participant wants to own and waits for another participant.
    package var isWaiting: Bool { holding == nil && goal.wantsOwnership }

    /// The interval of reads without a wake-up. It is short for a participant that waits, for an Executor that owns,
    /// and for a Main that owns without a core. It is longer for a participant that waits for its turn behind a Main,
    /// and longest for all others, because each of them may last for weeks and each read wakes the process (contract
    /// C4, C13).
    private var lookInterval: Duration {
        if isWaiting, waitsItsTurn, view.owner?.record.role == .main, view.handover == nil { return rules.turnInterval }
        return isWaiting || (holding != nil && (!myself.isMain || core == nil))
            ? rules.lookInterval : rules.idleInterval
    }

    /// Returns true if a refusal applies to the present goal and the present owner. An outdated refusal would prevent
    /// this participant's other callers from owning.
    private func stands(_ refusal: Refusal) -> Bool {
        guard myself.isMain ? goal.wantsOwnership : goal == .insist else { return false }
        if let owner = refusal.owner { return view.owner?.claim == owner.claim }
        return view.handover?.session == refusal.session
    }

    /// Updates the ownership that is held or was lost from the view.
    private mutating func settle() {
        if let owner = view.owner, owner.session == myself.session || isAtRest {
            guard holding?.epoch != owner.claim else { return }
            holding = Holding(epoch: owner.claim)
            watched = nil
            handoverWait = nil
        } else if let held = holding {
            if !held.isReleasing { loss = Loss(epoch: held.epoch, successor: view.owner) }
            holding = nil
            hearing = nil
            wantsRest = false
            offered = nil
            hasOffered = false
        }
    }
}
