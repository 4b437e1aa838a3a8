internal import Coordination
internal import CoreAPI

/// Validates the rests of Mains (C26), with complete knowledge of the simulation.
extension Simulation {
    /// The time after `wake.bound` in which a holder that can run must have ended a rest that was woken.
    ///
    /// It covers the holder's own steps and the second half of the bound, which begins with the repetition of the wake.
    private static let ending: UInt64 = 800_000_000

    /// Validates the effect of a commit on a rest.
    mutating func judgeRest(_ before: OwnershipView, _ timelineEvents: [OwnershipEvent], by number: Int) {
        let author = members[number]
        if let old = before.owner, let new = present.owner, old.claim == new.claim, old.session != new.session {
            switch timelineEvents.last?.kind {
            case .rested:
                check(author.hold != nil && before.offer != nil, "C26: \(author.name) takes what was not offered")
                check(before.handover == nil, "C26: \(author.name) comes to own past the request of a Main")
            case .resumed:
                check(before.sleeper?.session == author.session, "C26: \(author.name) resumes, and did not rest")
            default: broke("C26: an ownership moves to \(author.name), and is neither at rest nor resumed")
            }
        }
        if let rest = before.sleeper, rest.session == author.session, present.rest == nil,
            present.owner?.claim == before.owner?.claim
        {
            check(present.owner?.session == author.session, "C26: \(author.name) takes back an offer that was taken")
        }
        for timelineEvent in timelineEvents {
            switch timelineEvent.kind {
            case .coreGivenUp, .tookOver:
                guard let rest = before.rest, before.offer == nil,
                    rest.record.epoch == timelineEvent.epoch ?? timelineEvent.previous?.epoch
                else { continue }
                judgeEnd(of: rest, by: number)
            case .coreStopped:
                let isRunning = cores.contains { $0.runs && $0.epoch == timelineEvent.epoch && $0.member != number }
                check(!isRunning, "C26: \(author.name) says that the core of another has stopped, which runs")
            case .woken:
                guard let rest = present.rest else { continue }
                watchOver(rest: rest.claim, since: clock)
            default: break
            }
        }
    }

    /// Checks that only the Main itself ends its rest, if it could resume.
    private mutating func judgeEnd(of rest: Standing<RestRecord>, by number: Int) {
        guard let sleeper = member(rest.session), sleeper != number else { return }
        // The quiet core is stopped like one that was superseded.
        queue.insert(.judge(.fenced(sleeper, epoch: rest.record.epoch.rawValue)), at: clock + 400_000_000)
        guard canAct(members[sleeper], for: promised.wakeBound.clampedNanoseconds) else { return }
        broke("C26: \(members[sleeper].name) could resume, and \(members[number].name) ends its rest")
    }

    /// Checks that a core continues only where its Main owns again, or the rest is over in any case.
    mutating func judgeResume(of epoch: Revision, by number: Int) {
        guard let owner = present.owner, owner.claim == epoch else { return }
        check(
            owner.session == members[number].session,
            "C26: \(members[number].name)'s core goes on, and its holder owns")
    }

    private mutating func watchOver(rest: Revision, since: UInt64) {
        queue.insert(
            .judge(.woken(rest: rest.rawValue, since: since)),
            at: clock + promised.wakeBound.clampedNanoseconds + Self.ending)
    }

    /// Checks that a rest that was woken is over: the Main has resumed, or its holder has released.
    mutating func judgeWoken(_ rest: Revision, since: UInt64) {
        guard let sleeper = present.sleeper, sleeper.claim == rest, let owner = present.owner,
            let holder = member(owner.session)
        else { return }
        guard canAct(members[holder], for: promised.wakeBound.clampedNanoseconds + Self.ending - 50_000_000) else {
            return watchOver(rest: rest, since: since)
        }
        broke("C26: the rest at \(rest) was woken \((clock - since) / 1_000_000) ms ago, and still stands")
    }
}
