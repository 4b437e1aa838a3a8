internal import Coordination
internal import CoreAPI

/// Validates activities, and the reasons given to stopping cores, with complete knowledge of the simulation.
extension Simulation {
    /// The time in which a participant must notice records that it polls every 250 ms.
    private static let hearing: UInt64 = 350_000_000
    /// The time for which a participant must have run to have answered a challenge.
    private static let answering: UInt64 = 1_200_000_000

    /// Validates a commit's changes of activities, and of a request that waits for them.
    mutating func judgeActivities(_ before: OwnershipView, _ purpose: Purpose, by number: Int) {
        let after = present
        if let activities = after.activities, activities.record.epoch != after.owner?.claim {
            broke("C17: activities of epoch \(activities.record.epoch) stand, which is over")
        }
        switch purpose {
        case .beginning:
            activitiesChangedAt = clock
            check(before.handover == nil, "C17: an activity began after the request for hand-over")
        case .ending:
            activitiesChangedAt = clock
            noteEnd(before)
        case .moving: judgeMoving(before)
        case .transition(let timelineEvents):
            let isEnforced = timelineEvents.contains { $0.kind == .killed || $0.kind == .tookOver }
            if isEnforced { judgeNeed(toEndBusy: before, by: number, timelineEvents) }
            guard let handover = after.handover, handover.record.insists, let owner = after.owner,
                before.handover?.claim == handover.claim, before.handover?.record.insists == false
            else { return }
            // From here on the participant waits as for an owner that is not busy.
            watchOver(handover, of: number, to: owner, after: .zero)
        default: break
        }
    }

    /// Notes that an owner is no longer busy: the deadline of a pending request starts here.
    private mutating func noteEnd(_ before: OwnershipView) {
        guard let owner = present.owner, isBusy(owner, in: before), !isBusy(owner, in: present) else { return }
        idleSince[owner.claim] = clock
        guard let handover = present.handover, let asker = member(handover.session) else { return }
        watchOver(handover, of: asker, to: owner, after: .zero)
    }

    /// Checks that no call ceases to move while a Main that takes it has a request pending. A call that begins to move
    /// may end the wait of that Main for the owner's activities.
    private mutating func judgeMoving(_ before: OwnershipView) {
        activitiesChangedAt = clock
        guard let owner = present.owner, let handover = present.handover, handover.claim == before.handover?.claim
        else { return }
        let wasHeldUp = before.activities(of: owner, holdingUp: handover) != nil
        let isHeldUp = present.activities(of: owner, holdingUp: handover) != nil
        check(wasHeldUp || !isHeldUp, "C25: a call ceases to move, and a Main has asked that takes it")
        guard wasHeldUp, let asker = member(handover.session) else { return }
        if isHeldUp {
            // The activity may hold the request up from now on: its Main waits for another activity already.
            heldUpAnew[owner.claim] = clock
            watchOver(handover)
        } else {
            idleSince[owner.claim] = clock
            watchOver(handover, of: asker, to: owner, after: .zero)
        }
    }

    /// Checks that no waiting request ends the ownership of a busy owner that answers.
    private mutating func judgeNeed(toEndBusy before: OwnershipView, by number: Int, _ timelineEvents: [OwnershipEvent])
    {
        guard let owner = before.owner, let handover = before.handover,
            let activities = before.activities(of: owner, holdingUp: handover), !handover.record.insists,
            !handover.record.isKilling,
            owner.record.state != .stopping, let holder = member(owner.session),
            timelineEvents.last?.previous?.end != .unanswered,
            // The bounds count in the Main's own running time, which is at most the clock's.
            handover.record.askedAt.duration(to: now) < activities.bound
        else { return }
        let target = members[holder]
        guard target.isAlive, !target.isFrozen(at: clock), !mayHaveMissed(target),
            clock - target.runsSince > Self.answering, target.troubleUntil + Self.answering < clock
        else { return }
        broke("C17: \(members[number].name) ends the ownership of \(target.name), which is busy and answers")
    }

    /// The time in which a Main must replace a request. It may first challenge, or check for dead participants.
    private static let replacing: UInt64 = 700_000_000

    /// Schedules the check that a Main that takes over and insists does not wait behind a Main that waits.
    mutating func watchOver(insisting number: Int) {
        queue.insert(.judge(.heldUp(number)), at: clock + Self.replacing + 100_000_000)
    }

    mutating func judgeHeldUp(_ number: Int) {
        let member = members[number]
        guard member.isAlive, member.machine.goal == .takeOver, member.machine.insists,
            member.machine.holding == nil, member.machine.core == nil, member.machine.rest == nil,
            let owner = present.owner, owner.record.state != .stopping, let handover = present.handover,
            present.activities(of: owner, holdingUp: handover) != nil, handover.session != member.session,
            !handover.record.insists,
            !handover.record.isKilling
        else { return }
        guard canAct(member, for: Self.replacing),
            handover.record.askedAt.duration(to: now).clampedNanoseconds > Self.replacing
        else { return watchOver(insisting: number) }
        broke("C17: \(member.name) takes over and insists, and waits behind a Main that waits for activities")
    }

    /// Returns whether an owner was recently right not to stop for a request.
    func mayBeBusy(_ owner: Standing<OwnerRecord>) -> Bool {
        guard present.handover?.record.insists != true else { return false }
        // Calls that the Main takes are no reason, once the core knows the outcome of its last baton.
        if let handover = present.handover, let number = member(owner.session), members[number].machine.given == nil,
            present.activities(of: owner.claim) != nil, present.activities(of: owner, holdingUp: handover) == nil
        {
            return (idleSince[owner.claim] ?? 0) + 600_000_000 > clock
        }
        return busyEnd(of: owner.claim) + 600_000_000 > clock
    }

    private func isBusy(_ owner: Standing<OwnerRecord>, in view: OwnershipView) -> Bool {
        view.activities(of: owner.claim)?.last.map { $0.latestEnd > now } ?? false
    }

    /// Returns when the last activity of an ownership ended, or its bound passed; now, if one is open.
    func busyEnd(of epoch: Revision) -> UInt64 {
        let ended = idleSince[epoch] ?? 0
        guard let last = present.activities(of: epoch)?.last else { return ended }
        return max(ended, clock - min(clock, last.latestEnd.duration(to: now).clampedNanoseconds))
    }

    // MARK: - Reasons for stopping

    /// Checks that a core receives the true reason for its stop, which is no hand-over while it is busy.
    mutating func judgeRequest(_ request: StopRequest?, to core: Int) {
        let member = members[cores[core].member]
        let view = member.viewAtStop
        guard let request else { return broke("C18: \(member.name)'s core is not told why it stops") }
        let isTrue =
            switch request.reason {
            case .handover: view.handover?.record.insists == false && view.handover?.record.name == request.requester
            case .insisted: view.handover?.record.insists == true && view.handover?.record.name == request.requester
            case .bound: request.activity.map { $0.latestEnd <= now } ?? false
            case .superseded: view.owner?.claim != cores[core].epoch
            case .served, .budget: !member.isMain
            case .closing: member.demandPolicy.isClosing || member.isMain
            default: false
            }
        check(isTrue, "C18: \(member.name)'s core is told “\(request.reason)”, which is not why it stops")
        guard cores[core].runs, let last = present.activities(of: cores[core].epoch)?.last, last.latestEnd > now else {
            return
        }
        switch request.reason {
        case .handover,
            .bound where view.handover != nil:
            // An activity that is open now was open when the request was made.
            guard let handover = present.handover, handover.claim == view.handover?.claim, !handover.record.insists,
                let owner = present.owner, let last = present.activities(of: owner, holdingUp: handover)?.last,
                last.latestEnd > now
            else { return }
        case .served, .budget: break
        case .bound:
            guard activitiesChangedAt + Self.hearing < clock, member.runsSince + Self.hearing < clock,
                member.missedSince == nil
            else { return }
        default: return
        }
        broke("C17: \(member.name)'s core is busy, and told to stop: \(request.reason)")
    }

    /// Checks that an ownership is released only after its core has stopped, or has had its time to stop.
    mutating func judgeStopTime(of owner: Standing<OwnerRecord>, by number: Int) {
        // The bound counts also while the process is stopped or the machine sleeps.
        guard let core = core(of: owner.claim, in: number), cores[core].runs, let since = cores[core].endsSince,
            clock - members[number].runsSince > promised.stopTimeout.clampedNanoseconds
        else { return }
        // The bound counts from the decision; the core is told one step later.
        check(
            since.duration(to: now) + .milliseconds(100) >= promised.stopTimeout,
            "C18: \(members[number].name) released while its core was stopping within its bound")
    }
}
