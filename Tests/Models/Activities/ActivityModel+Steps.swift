/// The effects of the steps.
extension ActivityModel {
    private typealias Keys = ActivityState.Keys

    func take(_ step: ActivityStep, in state: inout ActivityState, noting findings: inout Findings) {
        switch step {
        case .decide(let party, let commit):
            state[party].pending = commit
        case .commit(let party, let commit):
            state[party].pending = nil
            judge(commit, by: party, in: state, noting: &findings)
            perform(commit, of: party, in: &state)
        case .call(let party, let call):
            state[party].call = call
        case .commitCall(let party, let call): commit(call, of: party, in: &state, noting: &findings)
        case .renew(let party):
            guard state.owner == party, state.open & 1 != 0 else { break }
            state.age = 0
        case .look(let party):
            state[party].seenOpen = state.open
            state[party].seenRequest = request(to: party, in: state)
            state[party].isSeenRequestCurrent = state[party].seenRequest != .none
            state[party].hasBegunUnseen = false
            if lacks(.seenApart) { state[party].seenOpen = 0 }
        case .startCore(let party):
            judgeStart(by: party, in: state, noting: &findings)
            state[party].core = .running
        case .stop(let party, let reason):
            judgeStop(of: party, because: reason, in: state, noting: &findings)
            state[party].core = .stopping
            state[party].reason = reason
            state[party].isReasonOver =
                reason != .served && state[party].seenRequest != .none && !state[party].isSeenRequestCurrent
        case .stopped(let party), .abandon(let party):
            state[party].core = .none
            state[party].works = 0
            state[party].stopped = 0
        case .hang(let party):
            state.hangsLeft -= 1
            state[party].core = .stuck
        case .kill:
            guard let owner = state.owner else { break }
            findings.reaches(state[owner].life == .frozen ? "a frozen owner was killed" : "an owner was killed")
            if state[owner].life == .frozen, openWithinBound(in: state) != 0 {
                findings.reaches("a frozen owner was killed in an activity")
            }
            die(owner, in: &state)
        case .seek(let party): seek(party, in: &state)
        case .leave(let party), .refused(let party):
            state[party].wants = false
            leave(party, in: &state)
        case .start(let party), .push(let party):
            state[party].wants = true
            seek(party, in: &state)
        case .insist(let party): state[party].insists = true
        case .end(let party):
            state[party].wants = false
            state[party].insists = false
        case .serve:
            for waiting in parties where !waiting.isMain { state[waiting].wants = false }
            if openWithinBound(in: state) != 0 { findings.reaches("all calls were served in an activity") }
        case .freeze(let party):
            state.freezesLeft -= 1
            state[party].life = .frozen
            state[party].ran = 0
            noteFault(in: &state)
        case .thaw(let party):
            state[party].life = .running
            noteFault(in: &state)
        case .die(let party):
            state.deathsLeft -= 1
            die(party, in: &state)
            noteFault(in: &state)
        case .reap(let party):
            state[party] = ActivityState.Participant()
            if state.owner == party { endEpoch(in: &state) }
            if state.author == party { setRequest(.none, of: nil, in: &state) }
        case .tick: tick(in: &state, noting: &findings)
        }
    }

    /// The wait for a frozen owner begins anew.
    private func noteFault(in state: inout ActivityState) {
        state.waitedForFrozen = 0
    }

    private func die(_ party: Party, in state: inout ActivityState) {
        state[party] = ActivityState.Participant()
        state[party].life = .dead
    }

    private func seek(_ party: Party, in state: inout ActivityState) {
        state[party].phase = .seeking
        reset(party, in: &state)
    }

    private func reset(_ party: Party, in state: inout ActivityState) {
        var participant = state[party]
        participant.works = 0
        (participant.reason, participant.isReasonOver) = (nil, false)
        participant.seenOpen = 0
        participant.seenRequest = .none
        participant.isSeenRequestCurrent = false
        participant.hasBegunUnseen = false
        (participant.waited, participant.waitedIdle, participant.waitedStopping) = (0, 0, 0)
        (participant.silence, participant.stopped) = (0, 0)
        state[party] = participant
    }

    // MARK: - Calls of the core

    private func work(of call: ActivityState.Call) -> UInt8 { call == .begin || call == .end ? 1 : 2 }

    private func commit(
        _ call: ActivityState.Call, of party: Party, in state: inout ActivityState, noting findings: inout Findings
    ) {
        state[party].call = nil
        let work = work(of: call)
        switch call {
        case .begin, .beginSecond:
            judgeBegin(by: party, in: state, noting: &findings)
            state.open |= work
            state[party].works |= work
            state[party].hasBegunUnseen = true
        case .end, .endSecond:
            state[party].works &= ~work
            state.open &= ~work
            if state.request != .none { findings.reaches("an activity ended while a Main waited") }
        }
        if work == 1 { state.age = 0 } else { state.secondAge = 0 }
    }

    // MARK: - Commits

    /// Returns the entries that a commit relies on.
    private func guards(of commit: ActivityState.Commit) -> Keys {
        switch commit {
        case .acquire, .ask: [.owner, .handover]
        case .supersede: [.owner, .handover, .challenge]
        case .insist, .removeRequest: [.handover]
        case .replace: lacks(.replacementWithoutAsking) ? [.owner] : [.owner, .handover]
        case .challenge, .answer: [.epoch, .challenge]
        case .publish: [.epoch]
        case .release, .giveUp: [.owner]
        case .announce, .fence: [.owner, .handover]
        case .announceSilent, .fenceSilent:
            lacks(.announceAnyway) ? [.owner, .handover] : [.owner, .handover, .challenge]
        }
    }

    private func guards(of call: ActivityState.Call) -> Keys {
        switch call {
        case .begin, .beginSecond:
            lacks(.beginUnderFormerEpoch) ? [.handover] : lacks(.beginPastRequest) ? [.epoch] : [.epoch, .handover]
        case .end, .endSecond: .epoch
        }
    }

    private func perform(_ commit: ActivityState.Commit, of party: Party, in state: inout ActivityState) {
        switch commit {
        case .acquire, .supersede, .fence, .fenceSilent: own(party, in: &state)
        case .ask, .replace:
            setRequest(state[party].insists ? .insisting : .patient, of: party, in: &state)
            (state[party].waited, state[party].waitedIdle, state[party].waitedStopping) = (0, 0, 0)
        case .insist: setRequest(.insisting, of: party, in: &state)
        case .removeRequest: setRequest(.none, of: nil, in: &state)
        case .challenge: setChallenge(.open, in: &state)
        case .answer: setChallenge(.answered, in: &state)
        case .publish:
            state.isStopping = true
            changed(.owner, in: &state)
        case .release, .giveUp:
            endEpoch(in: &state)
            state[party].core = .none
            if state[party].wants { seek(party, in: &state) } else { leave(party, in: &state) }
        case .announce, .announceSilent:
            state.isKilling = true
            changed(.handover, in: &state)
        }
    }

    private func leave(_ party: Party, in state: inout ActivityState) {
        state[party].phase = .away
        state[party].insists = false
        reset(party, in: &state)
    }

    private func own(_ party: Party, in state: inout ActivityState) {
        endEpoch(in: &state)
        if state.author == party { setRequest(.none, of: nil, in: &state) }
        state.owner = party
        state[party].phase = .owning
        reset(party, in: &state)
    }

    /// Handles a change of entries that commits rely on: pending commits are void.
    private func changed(_ keys: ActivityState.Keys, in state: inout ActivityState) {
        for party in parties {
            if let pending = state[party].pending, !keys.isDisjoint(with: guards(of: pending)) {
                state[party].pending = nil
            }
            if let call = state[party].call, !keys.isDisjoint(with: guards(of: call)) { state[party].call = nil }
        }
    }

    private func endEpoch(in state: inout ActivityState) {
        state.owner = nil
        state.isStopping = false
        state.waitedForFrozen = 0
        changed([.owner, .epoch], in: &state)
        if !lacks(.outlivesEpoch), state.open != 0 {
            state.open = 0
        }
        (state.age, state.secondAge) = (state.open & 1 != 0 ? state.age : 0, state.open & 2 != 0 ? state.secondAge : 0)
        setChallenge(.none, in: &state)
    }

    func setChallenge(_ challenge: ActivityState.Challenge, by party: Party? = nil, in state: inout ActivityState) {
        guard state.challenge != challenge else { return }
        state.challenge = challenge
        changed(.challenge, in: &state)
        for party in parties { state[party].silence = 0 }
    }

    private func setRequest(
        _ request: ActivityState.Request, of author: Party?, in state: inout ActivityState
    ) {
        if author != state.author {
            state.isKilling = false
            for party in parties {
                state[party].silence = 0
                state[party].isSeenRequestCurrent = false
            }
        }
        state.request = request
        state.author = author
        // The owner's time begins anew.
        state.waitedForFrozen = 0
        changed(.handover, in: &state)
    }
}
