package import CoreAPI

/// The rules of a holder: the process that owns for a Main that rests.
///
/// The machine is a value without I/O or clock. Like ``OwnershipMachine`` it is level-triggered: each step depends on
/// the known state, not on the changes that led to it.
///
/// Source: contract C26.
package struct HolderMachine: Sendable {
    package let myself: Participation
    package let rules: OwnershipRules

    /// The known state of the store.
    package var view = OwnershipView()
    /// Why the Main that rests is needed; nil while it is not. The machine finds a request for hand-over by itself.
    package var reason: Wake?
    /// True if the holder must end: it accepts no further offer, and wakes the Main that rests.
    package var isClosing = false
    package var wakeWait: WakeWait?
    package var lastLook: BootInstant
    package private(set) var nextStep: BootInstant
    package private(set) var retryAt: BootInstant?

    package init(for myself: Participation, rules: OwnershipRules, at now: BootInstant) {
        self.myself = myself
        self.rules = rules
        lastLook = now
        nextStep = now
    }

    /// The ownership that it holds; nil while it holds none.
    package var holding: Standing<OwnerRecord>? {
        view.owner.flatMap { $0.session == myself.session ? $0 : nil }
    }

    /// True if the holder holds no ownership and its record is removed, so that no Main can offer it one.
    package var hasEnded: Bool { isClosing && holding == nil && view.holder?.session != myself.session }

    /// Records that a directive could not be carried out for a reason that the view does not show.
    package mutating func failed(at now: BootInstant) {
        retryAt = now.advanced(by: rules.retryInterval)
    }

    /// Returns the next action; nil when there is nothing to do before ``nextStep`` or a change.
    package mutating func step(at now: BootInstant) -> Directive? {
        nextStep = now.advanced(by: rules.idleInterval)
        if let retryAt, now < retryAt {
            nextStep = retryAt
            return nil
        }
        retryAt = nil
        if let owner = holding {
            if let directive = hold(owner, at: now) { return directive }
        } else {
            wakeWait = nil
            if let directive = present() ?? meetOffer() { return directive }
        }
        let nextLook = lastLook.advanced(by: rules.idleInterval)
        guard nextLook <= now else {
            nextStep = min(nextStep, nextLook)
            return nil
        }
        lastLook = now
        // A watch event reports the end of the Main. This read finds the end if the event was lost.
        return holding == nil ? .look : .bury
    }

    /// Writes or removes the record of this holder.
    private func present() -> Directive? {
        var transaction = Transaction()
        switch view.holder {
        case nil where !isClosing:
            transaction.require(.absent(OwnershipKey.holder))
            let record = HolderRecord(process: myself.process, processNamespace: myself.processNamespace)
            transaction.put(OwnershipKey.holder, record.bytes, lifetime: .session)
        case .some(let holder) where isClosing && holder.session == myself.session && view.offer == nil:
            transaction.require(.revision(OwnershipKey.holder, holder.revision))
            transaction.delete(OwnershipKey.holder)
        default: return nil
        }
        return .commit(Transition(transaction: transaction))
    }

    /// Accepts an offer, or refuses it if there is a reason to wake.
    private func meetOffer() -> Directive? {
        guard let rest = view.offer, let owner = view.owner, view.holder?.session == myself.session else { return nil }
        var transaction = Transaction()
        transaction.require(.revision(OwnershipKey.owner, owner.revision))
        guard reason == nil, view.handover == nil, !isClosing else {
            transaction.endRest(rest)
            return .commit(Transition(transaction: transaction))
        }
        transaction.require(.revision(OwnershipKey.rest, rest.revision))
        transaction.require(.absent(OwnershipKey.handover))
        var record = owner.record
        record.process = myself.process
        record.processNamespace = myself.processNamespace
        transaction.put(OwnershipKey.owner, record.bytes, lifetime: .session)
        return .commit(
            Transition(
                transaction: transaction,
                timelineEvents: [
                    OwnershipEvent(kind: .rested, epoch: owner.claim, reason: "“\(rest.record.name)” sleeps")
                ]))
    }

    private mutating func hold(_ owner: Standing<OwnerRecord>, at now: BootInstant) -> Directive? {
        if let directive = answer(for: owner) { return directive }
        guard let rest = view.sleeper else {
            return release(
                owner,
                timelineEvents: [OwnershipEvent(kind: .coreStopped, epoch: owner.claim, reason: "its process ended")],
                because: "Main ended while it rested")
        }
        let isNeeded = reason != nil || view.handover != nil || isClosing
        guard isNeeded || view.wake(of: rest) != nil else {
            wakeWait = nil
            return nil
        }
        switch WakeWait.next(&wakeWait, of: rest, in: view, within: rules.wakeBound, at: now) {
        case .wake, .wakeAgain: return wake(rest)
        case .waits(let instant):
            nextStep = min(nextStep, instant)
            return nil
        case .isOver:
            let reason = "Main did not resume within \(rules.wakeBound)"
            return release(
                owner, ending: rest,
                timelineEvents: [
                    OwnershipEvent(kind: .coreGivenUp, epoch: owner.claim, from: owner.record.state, reason: reason)
                ],
                because: reason)
        }
    }

    private func answer(for owner: Standing<OwnerRecord>) -> Directive? {
        guard let challenge = view.challenge, challenge.record.claim == owner.claim, !view.isAnswered(challenge) else {
            return nil
        }
        var transaction = Transaction()
        transaction.require(.revision(OwnershipKey.owner, owner.revision))
        transaction.put(
            OwnershipKey.answer, AnswerRecord(claim: owner.claim, challenge: challenge.revision).bytes,
            lifetime: .session)
        return .commit(Transition(transaction: transaction))
    }

    private func wake(_ rest: Standing<RestRecord>) -> Directive {
        let reason = reason ?? (view.handover == nil ? .user : .handover)
        var transaction = Transaction()
        transaction.wake(rest, for: reason, in: view)
        let timelineEvent = OwnershipEvent(
            kind: .woken, other: rest.record.epoch, bound: rules.wakeBound,
            reason: isClosing ? "its holder ends" : reason.sentence)
        return .commit(
            Transition(transaction: transaction, timelineEvents: view.wake(of: rest) == nil ? [timelineEvent] : []))
    }

    private func release(
        _ owner: Standing<OwnerRecord>, ending rest: Standing<RestRecord>? = nil, timelineEvents: [OwnershipEvent],
        because reason: String
    ) -> Directive {
        var transaction = Transaction()
        transaction.require(.revision(OwnershipKey.owner, owner.revision))
        if let rest, let wake = view.wake(of: rest) {
            transaction.endRest(rest)
            transaction.require(.revision(OwnershipKey.wake, wake.revision))
        } else {
            transaction.delete(OwnershipKey.wake)
        }
        transaction.delete(OwnershipKey.owner)
        transaction.delete(OwnershipKey.critical)
        transaction.delete(OwnershipKey.activities)
        transaction.delete(OwnershipKey.moving)
        let released = OwnershipEvent(kind: .released, epoch: owner.claim, from: owner.record.state, reason: reason)
        return .commit(Transition(transaction: transaction, timelineEvents: timelineEvents + [released]))
    }
}
