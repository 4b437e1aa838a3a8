internal import CoreAPI

/// How a Main rests and resumes, and how other participants wait for a Main that rests.
///
/// Source: contract C26.
extension OwnershipMachine {
    /// The result of a Main's step about its rest, before any other step.
    package enum RestStep: Hashable, Sendable {
        case act(Directive)
        case waits
        /// The Main does not rest, so the other steps follow.
        case isAwake
    }

    /// True while the holder owns for this Main.
    package var isAtRest: Bool { view.sleeper?.session == myself.session }

    /// The rest that this Main has offered, or in which it is.
    private var ownRest: Standing<RestRecord>? {
        view.rest.flatMap { $0.session == myself.session ? $0 : nil }
    }

    /// The reason why this Main may not offer its ownership now; nil if it may.
    ///
    /// Source: contract C17, C26.
    package var reasonNotToRest: String? {
        guard let holding, let owner = view.owner, owner.session == myself.session, core?.phase == .running,
            owner.record.state == .running, core?.epoch == holding.epoch
        else { return "its core does not run" }
        if view.handover != nil { return "another Main asks for ownership" }
        if view.activities(of: holding.epoch) != nil { return "an activity is open" }
        if view.critical?.record.epoch == holding.epoch { return "its core is in a critical section" }
        guard let holder = view.holder, holder.session != myself.session,
            holder.record.process.bootID == myself.process.bootID,
            holder.record.processNamespace == myself.processNamespace
        else { return "no holder is there" }
        return nil
    }

    /// Returns the next step of a Main that offers its ownership, rests, or has lost its holder.
    mutating func rest(at now: BootInstant) -> RestStep {
        guard let rest = ownRest else {
            // The offer was refused, or the rest has ended. This may happen before this participant saw the offer,
            // because others see a commit before it returns.
            if offered != nil || hasOffered { wantsRest = false }
            offered = nil
            hasOffered = false
            guard wantsRest else { return .isAwake }
            // Answer a challenge before an offer is made: the offer's commit would delay the answer, again for each
            // offer that is withdrawn and repeated.
            if let directive = answer() { return .act(directive) }
            guard goal == .own, reasonNotToRest == nil else {
                wantsRest = false
                return .isAwake
            }
            return offer()
        }
        hasOffered = false
        if isAtRest { return sleep(in: rest, at: now) }
        guard view.offer?.claim == rest.claim else {
            // The ownership of this Main has ended during its rest. If no participant owns, this Main has precedence
            // over others.
            wantsRest = false
            guard view.owner == nil else { return .act(end(rest)) }
            if !goal.wantsOwnership || view.handover.map({ $0.session != myself.session }) == true {
                // The rest ends when the core has stopped, which an earlier part of the step takes care of.
                return core == nil ? .act(end(rest)) : .waits
            }
            return .act(acquire(at: now, because: "its holder ended while it rested"))
        }
        if let directive = answer() { return .act(directive) }
        var waitingTime = offered ?? RunningTime(from: now)
        waitingTime.count(to: now)
        offered = waitingTime
        guard wantsRest, goal == .own, view.handover == nil, waitingTime.elapsed < rules.offerBound else {
            return .act(end(rest, requiring: view.owner))
        }
        wake(at: waitingTime.nextCount(limit: rules.offerBound))
        return .waits
    }

    private mutating func offer() -> RestStep {
        wokenFor = .user
        guard let holding, let owner = view.owner, let holder = view.holder else { return .isAwake }
        var transaction = Transaction()
        transaction.require(.revision(OwnershipKey.owner, owner.revision))
        transaction.require(.epoch(OwnershipKey.holder, holder.claim))
        transaction.require(.absent(OwnershipKey.handover))
        for (key, revision) in [
            (OwnershipKey.activities, view.activities?.revision), (OwnershipKey.critical, view.critical?.revision),
            (OwnershipKey.rest, view.rest?.revision),
        ] {
            transaction.require(revision.map { .revision(key, $0) } ?? .absent(key))
        }
        if view.rest != nil { transaction.delete(OwnershipKey.rest) }
        let record = RestRecord(epoch: holding.epoch, name: myself.name, process: myself.process)
        transaction.put(OwnershipKey.rest, record.bytes, lifetime: .session)
        transaction.delete(OwnershipKey.wake)
        return .act(.commit(Transition(transaction: transaction)))
    }

    /// Withdraws an offer, or ends a rest that is over.
    private func end(_ rest: Standing<RestRecord>, requiring owner: Standing<OwnerRecord>? = nil) -> Directive {
        var transaction = Transaction()
        if let owner { transaction.require(.revision(OwnershipKey.owner, owner.revision)) }
        transaction.endRest(rest)
        return .commit(Transition(transaction: transaction))
    }

    /// Sleeps until this Main is woken, or wants to resume.
    private mutating func sleep(in rest: Standing<RestRecord>, at now: BootInstant) -> RestStep {
        offered = nil
        guard let owner = view.owner else { return .isAwake }
        let wake = view.wake(of: rest)
        if wake == nil, wantsRest, goal == .own {
            let nextLook = lastLook.advanced(by: rules.restInterval)
            guard nextLook <= now else {
                nextStep = nextLook
                return .waits
            }
            lastLook = now
            return .act(.look)
        }
        wantsRest = false
        var record = owner.record
        record.process = myself.process
        record.processNamespace = myself.processNamespace
        var transaction = Transaction()
        transaction.require(.revision(OwnershipKey.owner, owner.revision))
        transaction.endRest(rest)
        transaction.put(OwnershipKey.owner, record.bytes, lifetime: .session)
        let reason = wake?.record.reason ?? wakeReason
        wokenFor = reason
        return .act(
            .commit(
                Transition(
                    transaction: transaction,
                    timelineEvents: [OwnershipEvent(kind: .resumed, epoch: owner.claim, reason: reason.sentence)])))
    }

    // MARK: - Another Main that rests

    /// Wakes a Main that rests, or repeats the wake.
    func wake(_ rest: Standing<RestRecord>, for reason: Wake) -> Directive {
        var transaction = Transaction()
        transaction.wake(rest, for: reason, in: view)
        let timelineEvents = view.wake(of: rest) == nil ? [timelineEvent(ofWaking: rest, for: reason)] : []
        return .commit(Transition(transaction: transaction, timelineEvents: timelineEvents))
    }

    func timelineEvent(ofWaking rest: Standing<RestRecord>, for reason: Wake) -> OwnershipEvent {
        OwnershipEvent(kind: .woken, other: rest.record.epoch, bound: rules.wakeBound, reason: reason.sentence)
    }

    /// Wakes a Main that rests, and waits for its resume. Returns `isAwake` when its time is over.
    mutating func awaitResume(of rest: Standing<RestRecord>, for reason: Wake, at now: BootInstant) -> RestStep {
        switch WakeWait.next(&wakeWait, of: rest, in: view, within: rules.wakeBound, at: now) {
        case .wake, .wakeAgain: return .act(wake(rest, for: reason))
        case .waits(let instant):
            wake(at: instant)
            return .waits
        case .isOver: return .isAwake
        }
    }

    /// Repeats the wake of a Main that was asked to hand over while it rested.
    mutating func remind(_ owner: Standing<OwnerRecord>, at now: BootInstant) -> Directive? {
        guard let rest = view.sleeper, rest.record.epoch == owner.claim else { return nil }
        switch awaitResume(of: rest, for: .handover, at: now) {
        case .act(let directive): return directive
        case .waits, .isAwake: return nil
        }
    }

    /// Acquires a free ownership. If a Main rested until its holder ended, that Main has precedence: it is woken, and
    /// has ``OwnershipRules/wakeBound`` to resume.
    mutating func acquireAsSoonAsMay(at now: BootInstant) -> Directive? {
        guard let rest = view.rest else { return acquire(at: now, because: "there was no owner") }
        switch awaitResume(of: rest, for: myself.isMain ? .handover : .call, at: now) {
        case .act(let directive): return directive
        case .waits: return nil
        case .isAwake:
            let reason = "Main did not resume within \(rules.wakeBound)"
            return acquire(
                at: now, after: [OwnershipEvent(kind: .coreGivenUp, epoch: rest.record.epoch, reason: reason)],
                because: "\(reason), and its holder has ended")
        }
    }
}

extension Wake {
    /// The reason as text for users, for the timeline.
    var sentence: String {
        switch self {
        case .data: "data came on a kept socket"
        case .push: "a push came"
        case .call: "a call waits for its message"
        case .handover: "another Main asked for ownership or its answer"
        case .keepAlive: "a keep-alive is due"
        default: "it does not rest any more"
        }
    }
}
