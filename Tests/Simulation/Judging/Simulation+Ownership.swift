internal import Coordination
internal import CoreAPI

/// Validates the rules of ownership, with complete knowledge of frozen and running members.
extension Simulation {
    /// Validates the effects of one commit.
    mutating func judge(_ before: OwnershipView, _ purpose: Purpose, by number: Int) {
        let after = present
        if before.owner?.claim != after.owner?.claim { judgeOwner(before, after, purpose, by: number) }
        if let old = before.owner, let new = after.owner, old.claim == new.claim, old.revision != new.revision {
            check(new.session == members[number].session, "C5: somebody wrote the state of another's core")
        }
        if let handover = after.handover, handover.claim != before.handover?.claim { watchOver(handover) }
        judgeActivities(before, purpose, by: number)
        switch purpose {
        case .transition(let timelineEvents):
            judgeRest(before, timelineEvents, by: number)
            if let baton = after.baton, baton.claim != before.baton?.claim { watchOver(batonOf: number, baton.claim) }
        case .applying: judgeApplied(before, by: number)
        case .storing(_, let epoch):
            check(after.owner?.claim == epoch, "C4: the write of a superseded core took effect")
        case .enteringCritical:
            check(
                before.handover == nil || before.handover?.session == members[number].session,
                "C3: a critical section was entered after the request for hand-over")
        case .leavingCritical:
            // A Main that did not see the section grants no time for it.
            if let handover = after.handover, handover.record.askedAt.duration(to: now) < .milliseconds(100) {
                granted[handover.claim] = nil
            }
        case .expecting(let call):
            let message = messages[calls[call].message]
            let wasThere = message.availableSince.map { $0 < calls[call].since } ?? false
            check(!wasThere, "C9: an expectation of a message that was in the inbox before")
        default: break
        }
    }

    private mutating func judgeOwner(
        _ before: OwnershipView, _ after: OwnershipView, _ purpose: Purpose, by number: Int
    ) {
        let author = members[number]
        if let new = after.owner {
            check(new.session == author.session, "C5: somebody made another the owner")
            check(new.claim > lastEpoch, "C1: the epoch \(new.claim) does not rise over \(lastEpoch)")
            lastEpoch = max(lastEpoch, new.claim)
            if let handover = before.handover, handover.session != author.session, let asker = member(handover.session)
            {
                check(members[asker].isDead, "C3: a participant acquired past the request of a Main")
            }
        } else if let old = before.owner {
            ownerGoneAt = clock
            check(
                old.session == author.session,
                "C5: \(author.name) ended the ownership of session \(old.session)")
            judgeRelease(of: old, by: number)
            judgeStopTime(of: old, by: number)
            check(
                before.handover == nil || after.handover != nil || before.handover?.session == author.session,
                "C3: \(author.name) releases, and removes the request of another")
        }
        if let old = before.owner, after.owner != nil {
            superseded.insert(old.claim)
            if case .transition(let timelineEvents) = purpose {
                judgeTakeOver(from: old, before, by: number, timelineEvents)
            }
            if let loser = member(old.session), members[loser].isAlive {
                queue.insert(
                    .judge(.fenced(loser, epoch: old.claim.rawValue)), at: clock + 400_000_000)
            }
        }
    }

    private mutating func judgeTakeOver(
        from old: Standing<OwnerRecord>, _ before: OwnershipView, by number: Int, _ timelineEvents: [OwnershipEvent]
    ) {
        guard let loser = member(old.session), let end = timelineEvents.last?.previous?.end else {
            return broke("C15: a take-over that nothing tells of")
        }
        switch end {
        case .unanswered:
            check(!isAnswered(before, by: old), "C6: taken over although the challenge was answered")
            check(couldNotAnswer(loser), "C6: an owner that could run was taken for frozen")
        case .deadlinePassed, .replaced:
            guard let handover = before.handover, handover.session == members[number].session else {
                return broke("C3: taken over by a deadline without a request")
            }
            check(
                handover.record.askedAt.duration(to: now) >= granted[handover.claim] ?? promised.handoverTimeout,
                "C3: fenced before the deadline with the granted bound")
            check(old.record.role != .main || handover.record.takesOverMain, "C14: a Main was replaced unasked")
        case .released, .sessionEnded:
            broke("C5: a take-over without a cause")
        }
    }

    /// Returns the deadline of a request, including a critical section's bound.
    func bound(of view: OwnershipView, on claim: Revision) -> Duration {
        var limit = promised.handoverTimeout
        if let critical = view.critical, critical.record.epoch == claim { limit += critical.record.bound }
        // A Main that rests resumes first.
        return (view.sleeper == nil ? .zero : promised.wakeBound) + min(limit, promised.handoverMaximumTimeout)
    }

    /// An answer that another session gave under the same claim, before a Main went to rest or resumed, does not count.
    private func isAnswered(_ view: OwnershipView, by owner: Standing<OwnerRecord>) -> Bool {
        guard let answer = view.answer, answer.record.claim == owner.claim, answer.session == owner.session,
            let challenge = view.challenge
        else { return false }
        return answer.record.challenge >= challenge.record.first ?? challenge.revision
    }

    /// Returns whether a member had a reason not to answer recently: it was dead or frozen, its wake-up was lost, or
    /// the store refused it.
    private func couldNotAnswer(_ number: Int) -> Bool {
        let member = members[number]
        return !member.isAlive || member.isFrozen(at: clock) || mayHaveMissed(member)
            || clock - member.runsSince < promised.answerBound.clampedNanoseconds
            || member.troubleUntil + 500_000_000 > clock
    }

    /// Returns whether a member may have missed recent changes: an owning Main and a holder poll only every 10 s, all
    /// others every 250 ms.
    func mayHaveMissed(_ member: Member) -> Bool {
        guard let since = member.missedSince else { return false }
        return member.plan.role != .executor || clock - since < 350_000_000
    }

    /// Checks that an Executor releases only when no call waits, its time is up, it has a request or its core fails.
    private mutating func judgeRelease(of old: Standing<OwnerRecord>, by number: Int) {
        guard members[number].machine.goal == .nothing(because: .allServed), members[number].missedSince == nil
        else { return }
        for call in calls.indices where calls[call].isWaiting && calls[call].wait.isExpected {
            let waiting = members[calls[call].member]
            guard waiting.isAlive, calls[call].wait.deadline > now.advanced(by: .milliseconds(100)),
                inboxState(of: calls[call].message) == .absent, let since = calls[call].expectedAt,
                since + 3_000_000_000 < clock, members[number].runsSince + 3_000_000_000 < clock,
                disturbedUntil + 3_000_000_000 < clock
            else { continue }
            broke("C9: a core was stopped as if everybody had been served, and \(waiting.name) waits")
        }
    }

    func member(_ session: SessionID) -> Int? {
        members.firstIndex { $0.session == session }
    }
}
