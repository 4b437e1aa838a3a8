internal import Coordination
internal import CoreAPI

/// Validates refusals, starts and kills, with complete knowledge of the simulation.
extension Simulation {
    /// Checks that a machine comes to rest: it does not repeat the same directive endlessly.
    mutating func judgePace(of number: Int) {
        if clock - members[number].directives.since > 100_000_000 { members[number].directives = (0, clock) }
        members[number].directives.count += 1
        check(
            members[number].directives.count < 100,
            "C13: \(members[number].name) does not come to rest: 100 directives within 100 ms")
    }

    /// Checks that a refusal names a Main.
    mutating func judge(_ refusal: Refusal, of number: Int) {
        guard let main = member(refusal.session) else { return broke("C2: refused because of nobody") }
        guard members[main].hold != nil else {
            return check(members[main].isMain, "C3: refused because of an Executor")
        }
        // The answer of a holder does not prove that the Main runs.
        check(
            !members[number].isMain, "C14: \(members[number].name) is refused because of a Main that may never resume")
    }

    mutating func judgeStart(of core: Int) {
        let epoch = cores[core].epoch
        check(present.owner?.claim == epoch, "C4: a core starts under an epoch that is over")
        judgeCalls(atStartOf: core)
        for other in cores.indices where other != core && cores[other].runs {
            check(
                superseded.contains(cores[other].epoch),
                "C1: the core of epoch \(epoch) starts while that of epoch \(cores[other].epoch) runs")
        }
    }

    mutating func judgeKill(of process: ProcessIdentity, finding target: Member?, by number: Int) {
        check(members[number].isMain, "C3: an Executor killed")
        check(members[number].process != process, "a participant killed its own process")
        check(promised.onHandoverTimeout == .kill, "C3: killed although it is to be fenced")
        if let target {
            judgeNeed(toKill: target)
            validatorTimeout(with: target)
            check(target.process == process, "C3: a stranger was killed")
            check(members.contains { $0.process == process && !$0.isMain }, "C6: a Main was killed")
        }
        guard let handover = present.handover, handover.session == members[number].session else { return }
        check(handover.record.isKilling, "C3: killed before it was said")
        check(
            handover.record.askedAt.duration(to: now) >= granted[handover.claim] ?? promised.handoverTimeout,
            "C3: killed before the deadline with the granted bound")
    }

    /// Checks that an Executor that could answer is not killed while its core is stopping within its bound.
    private func validatorTimeout(with target: Member) {
        guard let owner = present.owner, owner.session == target.session, owner.record.state == .stopping,
            case .stopping(let since)? = target.machine.core?.phase, since.duration(to: now) < promised.stopTimeout,
            !target.isFrozen(at: clock), !mayHaveMissed(target), clock - target.runsSince > 1_200_000_000,
            target.troubleUntil + 1_200_000_000 < clock
        else { return }
        broke("C3: \(target.name) was killed while its core was stopping, and it answered")
    }

    /// Checks that an Executor is not killed if it could notice the request for the whole deadline and its core stops
    /// in time.
    private func judgeNeed(toKill target: Member) {
        guard let owner = present.owner, owner.session == target.session, present.critical == nil,
            !mayBeBusy(owner), !target.isFrozen(at: clock),
            let core = core(of: owner.claim, in: target.number), !cores[core].isEnding,
            clock - target.runsSince > 600_000_000, target.troubleUntil + 600_000_000 < clock,
            now.nanoseconds - owner.record.since.nanoseconds > 600_000_000
        else { return }
        broke("C13: \(target.name) was killed because a wake-up was lost")
    }
}
