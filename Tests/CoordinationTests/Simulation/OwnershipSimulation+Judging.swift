import CoreAPI
import StoreEngine

@testable import Coordination

/// What an all-seeing observer holds against the rules. It knows who was frozen and who could run.
extension OwnershipSimulation {
    /// What stands under the keys of ownership.
    struct View: Equatable {
        let owner: Standing<OwnerRecord>?
        let handover: Standing<HandoverRecord>?
        let critical: Standing<CriticalRecord>?
        let challenge: Standing<ChallengeRecord>?
        let answer: Standing<AnswerRecord>?

        init(of state: StoreState) {
            func standing<Record>(_ key: Key) -> Standing<Record>? {
                (try? state.entry(key)?.entry(for: key)).map { Standing($0) }
            }
            owner = standing(OwnershipKey.owner)
            handover = standing(OwnershipKey.handover)
            critical = standing(OwnershipKey.critical)
            challenge = standing(OwnershipKey.challenge)
            answer = standing(OwnershipKey.answer)
        }
    }

    var owner: Standing<OwnerRecord>? { View(of: state).owner }

    /// Judges one commit by what it did to the ownership.
    mutating func judge(_ before: View, _ after: View, by number: Int, _ stories: [Story]) {
        let author = members[number]
        if let new = after.owner, new.claim != before.owner?.claim {
            acquisitions += 1
            check(new.session == author.session, "C5: somebody made another the owner")
            check(new.claim > lastEpoch, "C1: the epoch \(new.claim) does not rise over \(lastEpoch)")
            lastEpoch = max(lastEpoch, new.claim)
            if let handover = before.handover, handover.session != author.session, let asker = member(handover.session)
            {
                check(members[asker].isDead, "C3: a participant acquired past the request of a Main")
            }
        }
        if let old = before.owner, after.owner == nil {
            check(old.session == author.session, "C5: session \(author.session) ended the ownership of \(old.session)")
        }
        if let old = before.owner, let new = after.owner, old.claim != new.claim {
            takeOvers += 1
            superseded.insert(old.claim)
            judgeTakeOver(from: old, before, by: number, stories)
            if let loser = member(old.session), !members[loser].isDead {
                schedule(.judgeFenced(loser, old.claim), after: .milliseconds(400))
            }
        }
        if let old = before.owner, let new = after.owner, old.claim == new.claim, old != new {
            check(new.session == author.session, "C5: somebody wrote the state of another's core")
        }
    }

    private mutating func judgeTakeOver(
        from old: Standing<OwnerRecord>, _ before: View, by number: Int, _ stories: [Story]
    ) {
        guard let loser = member(old.session), let end = stories.last?.previous?.end else {
            violations.append("C15: a take-over that nothing tells of")
            return
        }
        switch end {
        case .unanswered:
            let isAnswered =
                before.answer.map { answer in
                    answer.record.claim == old.claim
                        && before.challenge.map { answer.record.challenge >= $0.record.first ?? $0.revision } == true
                } ?? false
            check(!isAnswered, "C6: taken over although the challenge was answered")
            check(couldNotAnswer(loser), "C6: an owner that could run was taken for frozen")
        case .deadlinePassed, .replaced:
            guard let handover = before.handover, handover.session == members[number].session else {
                violations.append("C3: taken over by a deadline without a request")
                return
            }
            var limit = rules.handoverDeadline
            if let critical = before.critical, critical.record.epoch == old.claim { limit += critical.record.bound }
            check(
                handover.record.askedAt.duration(to: now) >= min(limit, rules.handoverHardMaximum),
                "C3: fenced before the deadline with the granted bound")
            check(old.record.role != .main || handover.record.takesOverMain, "C14: a Main was replaced unasked")
        case .released, .sessionEnded:
            violations.append("C5: a take-over without a cause")
        }
    }

    /// Whether a member had a reason not to answer lately: it was dead or frozen, or its wake-up was lost.
    private func couldNotAnswer(_ number: Int) -> Bool {
        let member = members[number]
        return member.isDead || member.frozenUntil.map { $0 > now } == true || member.missedNews
            || member.runsSince.duration(to: now) < rules.answerBound
    }

    mutating func judgeCoreStart(of epoch: Revision) {
        for member in members where !member.isDead {
            for other in member.cores.keys where !superseded.contains(other) {
                violations.append("C1: the core of epoch \(epoch) starts while that of epoch \(other) runs")
            }
        }
    }

    mutating func judgeKill(of process: ProcessIdentity, _ epoch: Revision, by number: Int) {
        guard let target = members.firstIndex(where: { $0.process == process }) else {
            violations.append("C3: a stranger was killed")
            return
        }
        check(members[target].role == .executor, "C6: a Main was killed")
        check(members[number].role == .main, "C3: an Executor killed")
        check(target != number, "a participant killed its own process")
        check(rules.onDeadline == .kill, "C3: killed although it is to be fenced")
        guard let handover = View(of: state).handover, handover.session == members[number].session else {
            violations.append("C3: killed without a request")
            return
        }
        check(handover.record.isKilling, "C3: killed before it was said")
        check(
            handover.record.askedAt.duration(to: now) >= rules.handoverDeadline, "C3: killed before the deadline")
    }

    /// A refusal needs a Main that lives.
    mutating func judgeRefusal(of number: Int) {
        guard let refusal = members[number].machine.refusal, let main = member(refusal.session) else {
            violations.append("C2: refused because of nobody")
            return
        }
        check(members[main].role == .main, "C3: refused because of an Executor")
    }

    /// A superseded core has been told to stop by now, unless its participant could not run or was not woken.
    mutating func judgeFenced(_ number: Int, _ epoch: Revision) {
        let member = members[number]
        if member.runsSince.duration(to: now) < .milliseconds(300) || member.missedNews {
            schedule(.judgeFenced(number, epoch), after: .milliseconds(400))
            return
        }
        check(member.cores[epoch] != false, "C4: a superseded core runs on and was not told to stop")
    }

    /// At the end nobody is left waiting for nothing.
    mutating func judgeRest() {
        guard violations.isEmpty else { return }
        let alive = members.filter { !$0.isDead }
        let mains = alive.filter { $0.role == .main && $0.machine.wish.wantsOwnership }
        let seekers = alive.filter { $0.machine.wish.wantsOwnership }
        if !seekers.isEmpty { check(owner != nil, "somebody wants to own, and nobody does") }
        if !mains.isEmpty { check(owner?.record.role == .main, "C3: a Main waits and does not own") }
        // Where nobody is left, nobody buries.
        if let owner, let number = member(owner.session), !members[number].isDead {
            check(members[number].cores[owner.claim] != nil, "the owner runs no core")
            check(owner.record.state == .running, "the owner's state is \(owner.record.state)")
        }
        let running = members.flatMap { member in member.cores.keys.filter { !superseded.contains($0) } }
        check(running.count <= 1, "C1: \(running.count) cores run at the end")
    }

    func member(_ session: SessionID) -> Int? {
        members.firstIndex { $0.session == session }
    }

    private mutating func check(_ condition: Bool, _ sentence: String) {
        if !condition { violations.append("at \(now.nanoseconds / 1_000_000) ms: " + sentence) }
    }
}
