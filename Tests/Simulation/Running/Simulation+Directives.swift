internal import Coordination
internal import CoreAPI
internal import Mailboxes
internal import StoreEngine

/// Carries out the members' directives.
extension Simulation {
    mutating func carryOut(_ number: Int) {
        guard let directive = members[number].pending else { return }
        members[number].pending = nil
        judgePace(of: number)
        switch directive {
        case .look:
            catchUp(number)
        case .bury:
            for dead in members.indices { bury(dead) }
            catchUp(number)
        case .commit(let transition):
            guard carryOut(transition, of: number) else { return }
        case .startCore(let epoch):
            startCore(epoch, of: number)
        case .stopCore(let epoch):
            stopCore(epoch, of: number)
        case .resumeCore(let epoch):
            resumeCore(epoch, of: number)
        case .examine(let process, let claim):
            let holder = members.first { $0.process == process && $0.isAlive }
            let isStopped = schedule.faultProfile.showsProcesses ? holder?.isFrozen(at: clock) : nil
            members[number].machine.examined(claim, isStopped: isStopped)
        case .kill(let process, let epoch):
            // The member checks before it sends the signal: it may have been stopped after it announced the kill.
            catchUp(number)
            if mutant?.killsWithoutLooking == true || isToBeKilled(epoch, by: number) {
                kill(process, epoch, by: number)
            } else {
                members[number].machine.killEnded(epoch, impossible: nil, at: now)
            }
            catchUp(number)
        }
        proceed(number)
    }

    /// Commits a transition, then reads. Returns whether the member continues at once.
    private mutating func carryOut(_ transition: Transition, of number: Int) -> Bool {
        let wasUnclear = members[number].machine.begins(transition)
        let verdict = commit(transition.transaction, of: number, for: .transition(transition.timelineEvents))
        guard members[number].isAlive else { return false }
        switch verdict {
        case .committed(let revision): members[number].machine.committed(transition, at: revision)
        case .refused:
            members[number].machine.missed(transition, .refused, wasUnclear: wasUnclear)
            members[number].machine.refused(at: now)
        case .unknown:
            members[number].machine.missed(transition, .unknown, wasUnclear: wasUnclear)
            if mutant?.forgetsUnclearEnds == true { members[number].machine.given?.unclearEnd = nil }
            members[number].machine.refused(at: now)
        case .failed:
            let now = now
            members[number].machine.missed(transition, .unknown, wasUnclear: wasUnclear)
            members[number].machine.failed(at: now)
            members[number].machine.refused(at: now)
            members[number].hold?.failed(at: now)
            return true
        }
        // The read follows the commit: other commits may come in between, or the process may be stopped.
        guard !members[number].isFrozen(at: clock), !members[number].random.once(in: 3) else {
            members[number].pending = .look
            schedule(.carryOut(number), after: stepTime(of: number))
            return false
        }
        catchUp(number)
        return true
    }

    private func isToBeKilled(_ epoch: Revision, by number: Int) -> Bool {
        guard let handover = present.handover, handover.session == members[number].session else { return false }
        return present.owner?.claim == epoch && handover.record.isKilling
    }

    private mutating func kill(_ process: ProcessIdentity, _ epoch: Revision, by number: Int) {
        reuseNumber(of: process, by: number)
        // The kernel compares the whole identity: the number alone may belong to another process by now.
        let isVerified = mutant?.killsByNumber != true
        let target = members.first {
            $0.isAlive && (isVerified ? $0.process == process : $0.process.pid == process.pid)
        }
        judgeKill(of: process, finding: target, by: number)
        if goesWrong(schedule.faultProfile.forbiddenKills, for: number, .forbiddenKills) {
            say("\(members[number].name) may not kill process \(process.pid)")
            disturb(for: 2_000_000)
            took(.handover, Enforcement(members[number].machine).rawValue, Enforcement.impossible.rawValue, by: number)
            members[number].machine.killEnded(epoch, impossible: "the system forbids it", at: now)
            return
        }
        took(.handover, Enforcement(members[number].machine).rawValue, Enforcement.killed.rawValue, by: number)
        if let target {
            say("\(members[number].name) kills process \(process.pid)")
            if goesWrong(schedule.faultProfile.silentDeaths, for: number, .silentDeaths) {
                // A killed process may take some time to die.
                disturb(for: 3_000_000)
            } else {
                kill(target.plan.process)
            }
        }
        members[number].machine.killEnded(epoch, impossible: nil, at: now)
    }

    // MARK: - Updates

    /// Brings everything in a member that follows the store up to date.
    mutating func catchUp(_ number: Int) {
        members[number].missedSince = nil
        if present.revision > members[number].machine.view.revision {
            members[number].machine.view = seen(by: members[number].session)
        }
        if let position = members[number].demandPosition {
            for change in demandLog[position...] { members[number].demand?.apply(.changes(change)) }
            if position < demandLog.count {
                members[number].demandPosition = demandLog.count
                members[number].demandPolicy.demand = members[number].demand.map(seen)
            }
        }
        for call in members[number].calls where calls[call].isSubscribed && calls[call].isWaiting {
            ring(call)
        }
    }

    /// Delivers outdated records through a member's watch.
    mutating func hearStaleNews(_ number: Int) {
        guard !members[number].staleSnapshots.isEmpty else { return }
        members[number].machine.view.apply(members[number].staleSnapshots.removeFirst(), at: now)
        proceed(number)
    }

    /// Starts following the group's demand.
    mutating func followDemand(_ number: Int) {
        guard members[number].demandPolicy.policy != nil, members[number].machine.holding != nil else { return }
        let demand = presentDemand()
        members[number].demand = demand
        members[number].demandPosition = demandLog.count
        members[number].demandPolicy.demand = seen(demand)
        proceed(number)
    }

    mutating func presentDemand() -> Demand {
        var demand = Demand(of: inbox.mailbox.keys, in: bootID)
        let entries = state.selection(Demand.prefixes).compactMap { try? $0.entry.entry(for: $0.key) }
        demand.apply(.snapshot(Snapshot(revision: state.revision, entries: entries)))
        return demand
    }

    /// Returns the demand as a member sees it.
    private func seen(_ demand: Demand) -> Demand {
        mutant?.overlooksDemand == true ? Demand(of: inbox.mailbox.keys, in: bootID) : demand
    }

    /// Returns the ownership view of a session. The watch of a Main at rest shows a part of it.
    private func seen(by session: SessionID) -> OwnershipView {
        let isAtRest = present.sleeper?.session == session
        guard mutant?.changeSeen != nil || isAtRest else { return present }
        let keys = isAtRest ? OwnershipKeys.ofSleep : OwnershipKeys.all
        let entries = keys.compactMap { key -> Entry? in
            guard let entry = try? state.entry(key)?.entry(for: key) else { return nil }
            guard let change = mutant?.changeSeen else { return entry }
            return change(entry, session)
        }
        var view = OwnershipView()
        view.apply(Snapshot(revision: present.revision, entries: entries), at: now)
        return view
    }

    /// Wakes a member, unless its wake-up is lost.
    mutating func wake(_ number: Int) {
        let faultProfile = schedule.faultProfile
        if goesWrong(faultProfile.lostWakeUps, for: number, .lostWakeUps) {
            if members[number].missedSince == nil { members[number].missedSince = clock }
            return
        }
        if goesWrong(faultProfile.staleWakeUps, for: number, .staleWakeUps) {
            let entries = OwnershipKeys.all.compactMap { key in try? state.entry(key)?.entry(for: key) }
            members[number].staleSnapshots.append(Snapshot(revision: state.revision, entries: entries))
            schedule(.staleNews(number), after: members[number].random.time(1..<50))
        }
        guard !members[number].isToldSoon else { return }
        members[number].isToldSoon = true
        schedule(.news(number), after: members[number].random.number(30..<2000))
        if goesWrong(faultProfile.doubledWakeUps, for: number, .doubledWakeUps) {
            schedule(.news(number), after: members[number].random.number(30..<20_000))
        }
    }
}
