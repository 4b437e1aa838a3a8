package import CoreAPI

/// How a participant that does not own becomes the owner.
extension OwnershipMachine {
    /// Returns the next step towards ownership.
    package mutating func seek(at now: BootInstant) -> Directive? {
        guard isWaiting, core == nil, leftover == nil, refusal == nil else {
            watched = nil
            handoverWait = nil
            wakeWait = nil
            return nil
        }
        if let rest {
            guard rest.until <= now else {
                wake(at: rest.until)
                return nil
            }
            self.rest = nil
        }
        if let owner = view.owner {
            if let burial = bury(owner.claim, at: now) { return burial }
            return asks(owner) ? ask(owner, at: now) : wait(for: owner, at: now)
        }
        if let handover = view.handover, handover.session != myself.session {
            return bury(handover.claim, at: now) ?? wait(for: handover, at: now)
        }
        return acquireAsSoonAsMay(at: now)
    }

    /// Returns true if this participant asks an owner to hand over, instead of waiting until it releases.
    func asks(_ owner: Standing<OwnerRecord>) -> Bool {
        owner.record.role == .main ? goal == .takeOver : myself.isMain
    }

    /// Withdraws a request for hand-over that is no longer wanted.
    package mutating func withdraw() -> Directive? {
        guard let handover = view.handover, handover.session == myself.session, holding != nil || !isWaiting else {
            return nil
        }
        handoverWait = nil
        var transaction = Transaction()
        transaction.require(.epoch(OwnershipKey.handover, handover.claim))
        transaction.delete(OwnershipKey.handover)
        transaction.delete(OwnershipKey.takes)
        return .commit(
            Transition(
                transaction: transaction,
                timelineEvents: [OwnershipEvent(kind: .problem, reason: "it does not ask for ownership any more")]))
    }

    /// Makes the group end the sessions of dead processes when this participant first sees a claim, and at intervals
    /// while it waits for the claim's holder.
    package mutating func bury(_ claim: Revision, at now: BootInstant) -> Directive? {
        // The last reaping also covers all claims up to the one that it was made for. A Main that waits behind another
        // Main's request checks two claims in each step.
        if let last = lastBurial, claim <= last.claim {
            let next = last.at.advanced(by: last.holds)
            guard next <= now else {
                wake(at: next)
                return nil
            }
        }
        buried(max(claim, lastBurial?.claim ?? claim), at: now, holding: rules.burialInterval)
        return .bury
    }

    /// Records that the group reaped its ended sessions under a claim before this participant began to wait. The record
    /// is valid for a short time only, because the holder may have died since.
    package mutating func met(_ claim: Revision, at now: BootInstant) {
        if let last = lastBurial, last.claim >= claim { return }
        buried(claim, at: now, holding: rules.lookInterval)
    }

    /// Records the last reaping: its time, the claim at that time, and how long the record is valid.
    mutating func buried(_ claim: Revision, at now: BootInstant, holding time: Duration) {
        lastBurial = (claim, now, time)
    }

    /// Acquires a free ownership, and removes the record of a rest.
    func acquire(at now: BootInstant, after timelineEvents: [OwnershipEvent] = [], because reason: String) -> Directive
    {
        var transaction = Transaction()
        transaction.require(.absent(OwnershipKey.owner))
        requireHandover(in: &transaction)
        transaction.endRest(view.rest)
        putOwner(at: now, to: &transaction)
        return .commit(
            Transition(
                transaction: transaction,
                timelineEvents: timelineEvents + [
                    OwnershipEvent(kind: .acquired, to: .starting, bound: lease?.duration, reason: reason)
                ]))
    }

    /// Waits for an owner that is not asked to hand over. A frozen owner is superseded.
    private mutating func wait(for owner: Standing<OwnerRecord>, at now: BootInstant) -> Directive? {
        // The Main that has asked decides at its deadline what happens to the owner, so this participant waits for that
        // Main. Also, the group has one entry for a challenge: participants that challenge the owner and participants
        // that challenge the Main would overwrite it in turn, without end.
        if let handover = view.handover, handover.session != myself.session { return wait(behind: handover, at: now) }
        // The holder's answer does not prove that the resting Main is alive, so a second Main wakes it. A Main that
        // waits for its turn does not, because the resting Main would wake and rest again without end.
        if myself.isMain, !waitsItsTurn, let rest = view.sleeper, view.wake(of: rest) == nil {
            return wake(rest, for: .handover)
        }
        // If a Main has ended during its rest, its holder owns until it releases. No participant is refused meanwhile.
        let isHeld = view.holder?.session == owner.session
        let isRefusing =
            owner.record.role == .main && !waitsItsTurn
            && (isHeld ? goal == .insist && view.sleeper != nil : goal == .insist || myself.isMain)
        switch life(
            of: owner.claim, by: owner.session, in: owner.record.process, lease: leaseToWaitFor(owner),
            isUrgent: isRefusing, at: now)
        {
        case .act(let directive):
            return directive
        case .unknown:
            return nil
        case .proved:
            if isRefusing { refusal = Refusal(owner: owner, session: owner.session, name: owner.record.name) }
            return nil
        case .absent(let silence):
            if let rest = view.sleeper {
                // The holder does not answer, so this participant wakes the Main itself and gives it its time to
                // resume.
                switch awaitResume(of: rest, for: myself.isMain ? .handover : .call, at: now) {
                case .act(let directive): return directive
                case .waits: return nil
                case .isAwake: break
                }
            }
            return supersede(
                owner, at: now, provided: unanswered(silence), as: .unanswered,
                after: [OwnershipEvent(kind: .challenged, other: owner.claim, bound: silence.waited, reason: "")],
                because: "a challenge was not answered within \(silence.waited); its core may still run")
        }
    }

    /// Waits for a Main that has requested ownership while there is no owner; removes the request of a frozen Main.
    package mutating func wait(for handover: Standing<HandoverRecord>, at now: BootInstant) -> Directive? {
        let isRefusing = !waitsItsTurn && (goal == .insist || (myself.isMain && goal == .own))
        switch life(
            of: handover.claim, by: handover.session, in: handover.record.process, isUrgent: isRefusing, at: now)
        {
        case .act(let directive):
            return directive
        case .unknown:
            return nil
        case .proved:
            if isRefusing { refusal = Refusal(owner: nil, session: handover.session, name: handover.record.name) }
            return nil
        case .absent(let silence):
            var transaction = Transaction()
            transaction.require(.epoch(OwnershipKey.handover, handover.claim))
            for condition in unanswered(silence) { transaction.require(condition) }
            transaction.delete(OwnershipKey.handover)
            transaction.delete(OwnershipKey.takes)
            return .commit(
                Transition(
                    transaction: transaction,
                    timelineEvents: [
                        OwnershipEvent(
                            kind: .problem,
                            reason:
                                "“\(handover.record.name)” asked for ownership and did not answer a challenge within "
                                + "\(silence.waited), so its request is removed")
                    ]))
        }
    }

    /// Replaces an owner by a newer epoch, in one commit.
    package func supersede(
        _ owner: Standing<OwnerRecord>, at now: BootInstant, provided conditions: [Transaction.Guard],
        as end: OwnershipEndReason, after timelineEvents: [OwnershipEvent] = [], because reason: String
    ) -> Directive {
        var transaction = Transaction()
        // A rest changes the revision of the owner's entry but not its claim, so the guard is on the revision.
        transaction.require(.revision(OwnershipKey.owner, owner.revision))
        for condition in conditions { transaction.require(condition) }
        requireHandover(in: &transaction)
        transaction.endRest(view.rest)
        // Deleting first gives the entry a new creation revision, which is the new epoch.
        transaction.delete(OwnershipKey.owner)
        transaction.delete(OwnershipKey.critical)
        transaction.delete(OwnershipKey.activities)
        transaction.delete(OwnershipKey.moving)
        putOwner(at: now, to: &transaction)
        return .commit(
            Transition(
                transaction: transaction,
                timelineEvents: timelineEvents + [
                    OwnershipEvent(
                        kind: .tookOver, to: .starting,
                        previous: PreviousOwnership(epoch: owner.claim, end: end), bound: lease?.duration,
                        reason: reason)
                ]))
    }

    /// Returns the guards that fail if the challenge was answered.
    func unanswered(_ silence: Silence) -> [Transaction.Guard] {
        [
            .revision(OwnershipKey.challenge, silence.challenge),
            silence.answer.map { .revision(OwnershipKey.answer, $0) } ?? .absent(OwnershipKey.answer),
        ]
    }

    /// Guards the acquisition against the request of a waiting Main. The participant's own request ends with the
    /// acquisition.
    private func requireHandover(in transaction: inout Transaction) {
        if let handover = view.handover, handover.session == myself.session {
            transaction.require(.epoch(OwnershipKey.handover, handover.claim))
            transaction.delete(OwnershipKey.handover)
            transaction.delete(OwnershipKey.takes)
        } else {
            transaction.require(.absent(OwnershipKey.handover))
        }
    }

    private func putOwner(at now: BootInstant, to transaction: inout Transaction) {
        let record = OwnerRecord(
            role: myself.role, state: .starting, name: myself.name, process: myself.process, since: now,
            processNamespace: myself.processNamespace)
        transaction.put(OwnershipKey.owner, record.bytes, lifetime: .session)
        if let lease {
            transaction.put(OwnershipKey.lease, LeaseRecord(duration: lease.duration).bytes, lifetime: .session)
        }
    }
}

/// Why a participant cannot own now: a Main that answers challenges owns, or has requested ownership.
package struct Refusal: Hashable, Sendable {
    /// The owner entry; nil when the other Main still waits for its own hand-over.
    package let owner: Standing<OwnerRecord>?
    /// The other Main's session.
    package let session: SessionID
    /// Its name for people.
    package let name: String

    /// Its name in messages for people.
    package var title: String { name.isEmpty ? "of session \(session)" : "“\(name)”" }
}

/// The loss of an ownership that its holder has not released itself.
package struct Loss: Hashable, Sendable {
    /// The epoch that was lost.
    package let epoch: Revision
    /// The new owner; nil when there is none.
    package let successor: Standing<OwnerRecord>?
}
