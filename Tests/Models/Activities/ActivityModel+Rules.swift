/// The rules of the model.
extension ActivityModel {
    /// Checks a commit that takes effect.
    func judge(
        _ commit: ActivityState.Commit, by party: Party, in state: ActivityState, noting findings: inout Findings
    ) {
        switch commit {
        case .acquire, .supersede, .fence, .fenceSilent:
            if let author = state.author, author != party {
                findings.breaks("C3", "\(party) comes to own past the request of \(author)")
            }
        default: break
        }
        guard let owner = state.owner else { return }
        switch commit {
        case .supersede:
            if state[owner].canRun, state[owner].ran >= Self.answerBound {
                findings.breaks("C6", "\(owner) could answer, and is superseded")
            }
            if openWithinBound(in: state) != 0 { findings.reaches("a frozen owner was superseded in an activity") }
        case .announce, .announceSilent, .fence, .fenceSilent:
            judgeEnd(of: owner, by: party, in: state, noting: &findings)
            if commit == .fenceSilent, openWithinBound(in: state) != 0 {
                findings.reaches("a frozen owner was fenced in an activity")
            }
        case .replace:
            if state.request == .insisting || state.isKilling {
                findings.breaks("C17", "\(party) replaces a request that insists, or by which the owner is killed")
            }
            findings.reaches("a request that waited for activities was replaced")
        case .ask:
            if state[owner].call == .begin { findings.reaches("a begin was refused, because a Main had asked") }
        case .answer:
            if parties.contains(where: { state[$0].pending == .announceSilent || state[$0].pending == .fenceSilent }) {
                findings.reaches("an owner answered before its end was announced")
            }
        case .insist: findings.reaches("a Main that waited for activities insisted")
        case .release:
            if state[party].reason == .bound { findings.reaches("an owner released when its bound had passed") }
            if state[party].reason == .handover { findings.reaches("an owner handed over") }
        case .giveUp: findings.reaches("an owner released with a core that did not stop")
        default: break
        }
    }

    /// No request ends a running owner before its bound, nor while its core stops in time.
    private func judgeEnd(of owner: Party, by party: Party, in state: ActivityState, noting findings: inout Findings) {
        let holder = state[owner]
        if state.request == .patient, openWithinBound(in: state) != 0, holder.core == .running,
            state.challenge == .answered
        {
            findings.breaks("C17", "\(owner) is busy and has answered, and \(party) ends its ownership")
        }
        guard holder.canRun, holder.ran >= Self.handoverBound else { return }
        if holder.core == .stuck, holder.stopped >= Self.stopBound {
            findings.reaches("the end of an owner whose core did not stop was announced")
        } else if setting.isClockBehind, state[party].waited >= Self.bound {
            findings.reaches("the end of an owner with another clock was announced")
        } else {
            findings.breaks("C3, C17", "\(owner) could hand over or is busy, and \(party) ends its ownership")
        }
    }

    func judgeStart(by party: Party, in state: ActivityState, noting findings: inout Findings) {
        for other in parties where other != party && state[other].core != .none {
            guard state[other].canRun, state[other].ran >= Self.answerBound else { continue }
            findings.breaks(
                "C1", "\(party) starts a core, and that of \(other), which could run, is \(state[other].core)")
        }
    }

    func judgeBegin(by party: Party, in state: ActivityState, noting findings: inout Findings) {
        if state.request != .none { findings.breaks("C17", "\(party) begins an activity while a request stands") }
        if state.owner != party { findings.breaks("C4", "\(party) begins an activity, and does not own") }
        // A core that is closing, or was told to stop for a request that was removed since, may have called before.
        if state[party].core != .running, state[party].reason != .closing, !state[party].isReasonOver {
            findings.breaks("C17", "\(party) begins an activity when its core was told to stop")
        }
        findings.reaches("\(party) began an activity")
    }

    func judgeStop(
        of party: Party, because reason: ActivityState.Reason, in state: ActivityState, noting findings: inout Findings
    ) {
        let busy = state.owner == party ? openWithinBound(in: state) & state[party].works : 0
        switch reason {
        case .superseded:
            if state.owner == party { findings.breaks("C18", "\(party) is told that it is superseded, and owns") }
        case .closing:
            if state[party].wants { findings.breaks("C18", "\(party) is told that it closes, and wants to own") }
        case .served:
            if busy != 0 { findings.breaks("C17", "\(party) is busy, and its core is stopped as if all were served") }
            findings.reaches("a core was stopped when all calls were served")
        case .bound:
            if busy != 0, state[party].seenRequest == .none || state[party].isSeenRequestCurrent {
                findings.breaks("C17", "\(party) is busy, and told that its bound has passed")
            }
            if state[party].seenRequest == .none { findings.reaches("the policy stopped a core at its bound") }
        case .handover, .insisted:
            // A request that was removed since may have let an activity begin.
            guard state[party].isSeenRequestCurrent else { return }
            if reason == .insisted {
                if state.request != .insisting { findings.breaks("C18", "no Main insists") }
                if busy != 0 { findings.reaches("a Main that insisted interrupted an activity") }
            } else if busy != 0, state.request == .patient {
                findings.breaks("C17", "\(party) is busy, and told to hand over")
            } else if state.open & state[party].works != 0, state.request == .patient {
                findings.breaks("C18", "\(party) is not told that its bound has passed")
            }
        }
    }

    // MARK: - Time

    func tick(in state: inout ActivityState, noting findings: inout Findings) {
        judgeRest(in: state, noting: &findings)
        // An answer counts for a tick.
        if state.challenge == .answered { setChallenge(.none, in: &state) }
        if state.open & 1 != 0 { state.age = min(state.age + 1, Self.bound) }
        if state.open & 2 != 0 { state.secondAge = min(state.secondAge + 1, Self.secondBound) }
        for party in parties where state[party].core == .stopping || state[party].core == .stuck {
            state[party].stopped = min(state[party].stopped + 1, Self.stopBound)
        }
        for party in parties where state[party].canRun { count(party, in: &state, noting: &findings) }
        countFrozen(in: &state, noting: &findings)
    }

    /// Checks the conditions that hold when no participant that can run has a step left.
    private func judgeRest(in state: ActivityState, noting findings: inout Findings) {
        for party in parties where state[party].canRun && state[party].core == .running && state.owner != party {
            findings.breaks("C4", "\(party) runs its core, and does not own")
        }
        if let author = state.author, state[author].canRun, state[author].insists, state.request == .patient,
            isBusy(for: author, in: state)
        {
            findings.breaks("C17", "\(author) insists, and waits for an activity")
        }
        if setting.third == .secondMain, state.third.canRun, state.third.phase == .seeking, state.third.insists,
            state.author == .main, state.request == .patient, !state.isKilling, !state.isStopping, state.open != 0
        {
            findings.breaks("C17", "\(setting.third) takes over and insists, and waits behind Main")
        }
        guard let owner = state.owner, state[owner].canRun else { return }
        let holder = state[owner]
        if state.challenge == .open { findings.breaks("C6", "\(owner) does not answer") }
        if state.open != holder.works { findings.breaks("C17", "the activities on record are not those of \(owner)") }
        guard holder.core == .running else { return }
        let isBusy = setting.isClockBehind ? state.open != 0 : openWithinBound(in: state) != 0
        if !owner.isMain, !isBusy, !isAwaited(in: state) {
            findings.breaks("C9, C17", "the core of \(owner) runs on, and neither a call nor an activity keeps it")
        }
        switch request(to: owner, in: state) {
        case .none: break
        case .patient: if !isBusy { findings.breaks("C3, C17", "\(owner) is asked and not busy, and its core runs on") }
        case .insisting: findings.breaks("C17", "\(owner) is asked by a Main that insists, and its core runs on")
        }
    }

    private func count(_ party: Party, in state: inout ActivityState, noting findings: inout Findings) {
        var participant = state[party]
        defer { state[party] = participant }
        func raise(_ count: inout UInt8, to bound: UInt8) { count = min(count + 1, bound) }
        raise(&participant.ran, to: Self.answerBound)
        guard participant.phase == .seeking else { return }
        if let author = state.author, author != party {
            if state[author].canRun {
                participant.silence = 0
            } else {
                raise(&participant.silence, to: Self.answerBound)
            }
        } else if state.challenge == .open {
            raise(&participant.silence, to: Self.answerBound)
        }
        if state.author == party {
            let isBusy = isBusy(for: party, in: state)
            participant.waited += 1
            if participant.waited > Self.requestBound {
                findings.breaks("C3, C17", "the request of \(party) stands for \(participant.waited) ticks")
            }
            if isBusy { participant.waitedIdle = 0 } else { raise(&participant.waitedIdle, to: Self.handoverBound) }
            if state.isStopping { raise(&participant.waitedStopping, to: Self.stopBound) }
        }
    }

    private func countFrozen(in state: inout ActivityState, noting findings: inout Findings) {
        guard let owner = state.owner, state[owner].life == .frozen,
            parties.contains(where: { state[$0].canRun && state[$0].phase == .seeking }),
            state.author.map({ state[$0].canRun }) ?? true
        else {
            state.waitedForFrozen = 0
            return
        }
        state.waitedForFrozen += 1
        if state.waitedForFrozen > Self.frozenBound {
            findings.breaks("C6, C17", "\(owner) is frozen, and owns for \(state.waitedForFrozen) ticks")
        }
    }
}
