internal import Coordination
internal import CoreAPI

/// Validates calls (C23) and batons (C25), with complete knowledge of the simulation.
extension Simulation {
    /// The time in which a participant that can run must have settled a baton, or own again for it.
    private static let settling: UInt64 = 1_000_000_000

    /// Validates one change of the record of a call.
    mutating func judgeCall(_ change: Change) {
        guard let dialog = dialogNumbers[change.key] else { return }
        let id = dialogs[dialog].id
        let old = change.old.flatMap { CallRecord($0.value) }
        guard old?.state.isOpen ?? true else {
            return check(change.kind == .expired, "C23: the record of “\(id)” changes, which has ended")
        }
        guard let new = change.new.flatMap({ CallRecord($0.value) }) else {
            return broke("C23: the record of “\(id)” is removed, which is open")
        }
        dialogs[dialog].isOpen = new.state.isOpen
        guard case .ended(.lost) = new.state else { return }
        count(.lostCalls)
        let isMoving = present.baton.map { $0.record.state == .offered && $0.record.calls.contains(id.text) } ?? false
        check(!isMoving, "C25: “\(id)” is ended as lost, and its baton is still offered")
        check(!hasHolder(dialog), "C23: “\(id)” is ended as lost, and its owner's core has it")
    }

    /// Returns whether the owner's core has a call.
    private func hasHolder(_ dialog: Int) -> Bool {
        let holder = cores[dialogs[dialog].holder]
        return holder.runs && holder.epoch == present.owner?.claim
    }

    /// Checks that the calls of former ownerships are recorded as lost when a core starts, except those that the core
    /// receives.
    func judgeCalls(atStartOf core: Int) {
        let spared = cores[core].gets?.record.calls ?? []
        for dialog in dialogs where dialog.isOpen && !spared.contains(dialog.id.text) {
            guard let entry = stored(dialog.key), entry.isOlder(than: cores[core].epoch) else { continue }
            broke("C23: the core of epoch \(cores[core].epoch) starts, and “\(dialog.id)” is not on record as lost")
        }
    }

    /// Validates the commit with which a core takes over the calls of a baton.
    mutating func judgeApplied(_ before: OwnershipView, by number: Int) {
        activitiesChangedAt = clock
        guard let core = members[number].cores.last, let gets = cores[core].gets else {
            return broke("C25: \(members[number].name) applies a baton that its core does not have")
        }
        let epoch = gets.record.epoch
        check(
            present.owner?.claim == cores[core].epoch, "C25: \(members[number].name) applies a baton, and does not own")
        check(
            before.baton?.claim == gets.claim && before.baton?.record.state == .offered,
            "C25: the baton of epoch \(epoch) is applied, which is over")
        check(present.baton == nil, "C25: the baton of epoch \(epoch) is applied, and still stands")
        check(appliedBatons.insert(epoch).inserted, "C25: the baton of epoch \(epoch) is applied twice")
        count(.appliedBatons)
        cores[core].hasApplied = true
        for key in callKeys(of: gets.record) {
            guard let dialog = dialogNumbers[key], dialogs[dialog].isOpen else { continue }
            let id = dialogs[dialog].id
            check(!dialogs[dialog].isHungUp, "C25: “\(id)” moves, and its former owner has ended it over the network")
            check(!hasHolder(dialog), "C25: “\(id)” moves, and the owner's core has it")
            dialogs[dialog].holder = core
            judgeActivity(of: dialog)
        }
    }

    /// Checks that an open call of the owner keeps its core.
    private func judgeActivity(of dialog: Int) {
        guard let entry = stored(dialogs[dialog].key), let record = CallRecord(entry.value), let owner = present.owner
        else { return }
        let isKept = present.activities(of: owner.claim)?.activities.contains { $0.isWork(of: record.call.id) } ?? false
        check(isKept, "C23: “\(dialogs[dialog].id)” is open, and its activity is not")
    }

    /// Validates the outcome that a core receives for the baton that it gave.
    func judgeEnd(of record: BatonRecord, _ end: BatonEnd, by number: Int) {
        let name = members[number].name
        let isApplied = appliedBatons.contains(record.epoch)
        if end.isOwn {
            check(!isApplied, "C25: \(name) ends calls over the network (\(end)), and another core has them")
            let isOffered =
                present.baton.map { $0.record.epoch == record.epoch && $0.record.state == .offered } ?? false
            check(!isOffered, "C25: \(name) ends calls over the network (\(end)), and its baton is still offered")
        } else if end == .applied {
            // The store forgets a baton that its giver could not end for long.
            let isForgotten = record.deadline.advanced(by: schedule.batonLifetime) <= now
            check(isApplied || isForgotten, "C25: \(name) is told that its baton was applied, which no core did")
        }
    }

    /// Schedules the check that an offered baton does not stay for long.
    mutating func watchOver(batonOf number: Int, _ baton: Revision) {
        queue.insert(.judge(.offered(number, baton: baton.rawValue)), at: clock + Self.settling)
    }

    mutating func judgeOffered(_ number: Int, _ claim: Revision) {
        guard let baton = present.baton, baton.claim == claim, baton.record.state == .offered,
            members[number].isAlive
        else { return }
        let member = members[number]
        let canRun = canAct(member, for: Self.settling - 50_000_000) && schedule.faultProfile.lostWakeUps == 0
        if baton.record.deadline.duration(to: now).clampedNanoseconds > Self.settling {
            if canRun { broke("C25: \(member.name) has not ended its baton, whose time is over") }
        } else if !member.isMain, canRun, present.owner == nil, present.handover == nil, present.rest == nil,
            member.machine.core == nil, member.machine.rest == nil, !member.demandPolicy.isClosing,
            max(ownerGoneAt, requestOverAt) + Self.settling < clock
        {
            broke("C25: nobody owns, and \(member.name) does not want to again, whose baton is offered")
        }
        queue.insert(.judge(.offered(number, baton: claim.rawValue)), at: clock + 300_000_000)
    }

    /// Returns the unmet condition on calls and batons after the faults have ended; nil if there is none.
    func unmetMove() -> String? {
        // The giver removes its baton. Without that one it expires.
        if let baton = present.baton,
            members.contains(where: { $0.isAlive && $0.machine.given?.record.epoch == baton.record.epoch })
        {
            return "C25: a baton still stands"
        }
        for member in members where member.isAlive && member.machine.given != nil {
            return "C25: \(member.name)'s core has not heard of its baton"
        }
        guard let owner = present.owner, owner.record.state == .running, let number = member(owner.session),
            members[number].isAlive
        else { return nil }
        for dialog in dialogs.indices where dialogs[dialog].isOpen {
            guard let entry = stored(dialogs[dialog].key) else { continue }
            guard !entry.isOlder(than: owner.claim) else {
                return "C23: “\(dialogs[dialog].id)” is not on record as lost"
            }
            guard hasHolder(dialog) else { return "C23: “\(dialogs[dialog].id)” is open, and no core has it" }
            judgeActivity(of: dialog)
        }
        return nil
    }
}
