internal import Coordination
internal import CoreAPI

/// Validates rules that must hold some time after an event.
extension Simulation {
    mutating func judge(_ judgement: Event.Judgement) {
        switch judgement {
        case .fenced(let number, let epoch): judgeFenced(number, Revision(rawValue: epoch))
        case .frozen(let number, let claim, let since): judgeFrozen(number, Revision(rawValue: claim), since)
        case .dead(let dead, let number): judgeDead(dead, seenBy: number)
        case .asked(let number, let handover, let epoch, let since):
            judgeAsked(number, Revision(rawValue: handover), Revision(rawValue: epoch), since)
        case .heldUp(let number): judgeHeldUp(number)
        case .overdue(let call): judgeOverdue(call)
        case .offered(let number, let baton): judgeOffered(number, Revision(rawValue: baton))
        case .woken(let rest, let since): judgeWoken(Revision(rawValue: rest), since: since)
        }
    }

    /// Checks that a superseded core was told to stop by now, unless its participant could not run or was not woken.
    private mutating func judgeFenced(_ number: Int, _ epoch: Revision) {
        let member = members[number]
        guard member.isAlive, let core = core(of: epoch, in: number) else { return }
        guard canAct(member, for: 350_000_000) else {
            return queue.insert(.judge(.fenced(number, epoch: epoch.rawValue)), at: clock + 400_000_000)
        }
        check(cores[core].isEnding, "C4: a superseded core runs on and was not told to stop")
    }

    /// Checks that a waiting participant has replaced one that was frozen for seconds.
    ///
    /// Each frozen holder costs the waiting participants a separate time. While a Main's request is pending, they wait
    /// for its author (contract C3), so the author's silence counts; the owner's counts again after the request has
    /// ended.
    private mutating func judgeFrozen(_ number: Int, _ claim: Revision, _ since: UInt64) {
        let holder = members[number]
        guard holder.isAlive, holder.isFrozen(at: clock), holder.runsSince < since,
            schedule.faultProfile.lostWakeUps == 0
        else { return }
        let asks = present.handover?.claim == claim
        guard asks || present.owner?.claim == claim && present.owner?.session == holder.session else { return }
        if !asks {
            if let handover = present.handover, let asker = member(handover.session), !canWait(members[asker]) {
                return watchOver(number, claim, since: since)
            }
            guard requestOverAt + Self.longestFreeze <= clock else {
                return watchOver(number, claim, since: since, from: requestOverAt)
            }
            // The Main for which it holds is woken, and has its time twice: once more from the repetition on.
            if present.sleeper != nil, since + Self.longestFreeze + Self.longestWake > clock {
                return watchOver(number, claim, since: since, from: since + Self.longestWake)
            }
        }
        let time = Self.longestFreeze + (asks || present.sleeper == nil ? 0 : Self.longestWake) - 50_000_000
        if let waiting = members.first(where: { canWait($0, for: time) }) {
            broke("C6: \(holder.name) has been frozen for 3 s, and \(waiting.name) still waits for it")
        }
    }

    /// The longest time to wait for a frozen holder: an answer from before the freeze counts for 2 s, and a challenge
    /// lasts 500 ms.
    private static let longestFreeze: UInt64 = 3_000_000_000

    /// The time in which a participant that waits has woken a Main at rest and given it up.
    private static let longestWake: UInt64 = 3_000_000_000

    /// Schedules the check that a frozen holder does not own for long.
    ///
    /// - Parameters:
    ///   - since: When it froze; nil for now.
    ///   - start: When others could start waiting for it; nil for now.
    mutating func watchOver(_ number: Int, _ claim: Revision, since: UInt64? = nil, from start: UInt64? = nil) {
        queue.insert(
            .judge(.frozen(number, epoch: claim.rawValue, since: since ?? clock)),
            at: (start ?? clock) + Self.longestFreeze)
    }

    private func canWait(_ member: Member, for time: UInt64 = Self.longestFreeze - 50_000_000) -> Bool {
        guard let wants = member.wantsSince, member.machine.refusal == nil else { return false }
        let isResting = member.machine.rest.map { $0.until.advanced(by: .seconds(3)) > now } ?? false
        return canAct(member, for: time) && wants + time < clock && !isResting
    }

    /// Returns whether a member could act for the whole time.
    func canAct(_ member: Member, for time: UInt64) -> Bool {
        member.isAlive && !member.isFrozen(at: clock) && member.runsSince + time < clock && member.missedSince == nil
            && member.troubleUntil + time < clock
    }

    /// Checks that a participant that joins and has the goal to own does not wait for an owner that died before.
    private mutating func judgeDead(_ dead: Int, seenBy number: Int) {
        let member = members[number]
        guard let wants = member.wantsSince, let owner = present.owner, owner.session == members[dead].session,
            member.machine.refusal == nil, !(member.machine.rest.map { $0.until > now } ?? false)
        else { return }
        guard canAct(member, for: 300_000_000), wants + 300_000_000 < clock else { return }
        broke("C6: \(members[dead].name) was dead before \(member.name) came, and is still believed to own")
    }

    /// Schedules the check that a request ends: at its deadline with the granted bound, plus the time for a kill.
    mutating func watchOver(_ handover: Standing<HandoverRecord>) {
        guard let number = member(handover.session), let owner = present.owner else { return }
        granted[handover.claim] = bound(of: present, on: owner.claim)
        // A core gives no baton before it knows the outcome of its last one.
        let mayMove = member(owner.session).map { members[$0].machine.given == nil } ?? true
        let activities =
            handover.record.insists
            ? nil
            : mayMove ? present.activities(of: owner, holdingUp: handover) : present.activities(of: owner.claim)
        watchOver(handover, of: number, to: owner, after: activities?.bound ?? .zero)
    }

    /// - Parameter busy: How long the owner's activities may delay the request from now on.
    mutating func watchOver(
        _ handover: Standing<HandoverRecord>, of number: Int, to owner: Standing<OwnerRecord>, after busy: Duration
    ) {
        // The core of the owner may be stopping then, and has its bound for that.
        let limit = busy + bound(of: present, on: owner.claim) + promised.stopTimeout + .milliseconds(2500)
        queue.insert(
            .judge(
                .asked(number, handover: handover.claim.rawValue, epoch: owner.claim.rawValue, since: clock)),
            at: clock + limit.clampedNanoseconds)
    }

    private mutating func judgeAsked(_ number: Int, _ handover: Revision, _ epoch: Revision, _ since: UInt64) {
        guard present.handover?.claim == handover, present.owner?.claim == epoch,
            canAct(members[number], for: clock - since - 1_000_000)
        else { return }
        guard heldUpAnew[epoch] ?? 0 <= since else { return }
        // Calls that the owner's core has since taken over with a baton keep it. Their end is checked separately.
        let hasCalls = cores.contains { $0.epoch == epoch && $0.hasApplied }
        guard !hasCalls || present.handover?.record.insists == true || busyEnd(of: epoch) <= since else { return }
        broke("C3: \(members[number].name) asked epoch \(epoch) for ownership \((clock - since) / 1_000_000) ms ago")
    }

    private mutating func judgeOverdue(_ call: Int) {
        guard calls[call].isWaiting, members[calls[call].member].isAlive else { return }
        let late = calls[call].wait.deadline.duration(to: now)
        guard late >= .milliseconds(140), canAct(members[calls[call].member], for: 140_000_000) else {
            return queue.insert(.judge(.overdue(call)), at: clock + 150_000_000)
        }
        broke("C7: \(members[calls[call].member].name) waits on after its deadline")
    }
}
