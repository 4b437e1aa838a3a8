/// The effects of the steps.
extension RestingModel {
    func take(_ step: RestingStep, in state: inout RestingState, noting findings: inout Findings) {
        switch step {
        case .decide(let party, let commit):
            state[party].pending = commit
            state[party].unchanged = .all
            if commit == .resume, lacks(.coreBeforeResume) { state[party].core = .running }
        case .commit(let party, let commit):
            let holds = guards(of: commit).isSubset(of: state[party].unchanged)
            state[party].pending = nil
            state[party].unchanged = []
            if holds {
                perform(commit, of: party, in: &state, noting: &findings)
            } else {
                refused(commit, of: party, in: &state, noting: &findings)
            }
        case .move(let party, let move): self.move(party, move, in: &state, noting: &findings)
        case .wantRest(let party):
            state[party].core = .quiet
            state[party].phase = .offering
        case .wantWake(let party): state[party].hasReason = true
        case .push: state.push = .inHand
        case .startExecutor: launch(in: &state)
        case .openSecondMain:
            state.third.wasOpened = true
            state.third.phase = .seeking
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
            var dead = Participant()
            dead.life = .dead
            dead.wasOpened = state[party].wasOpened
            state[party] = dead
            noteFault(in: &state)
        case .reap(let party): reap(party, in: &state)
        case .startAnew(let party):
            state[party].life = .running
            if party == .main { state[party].phase = .seeking }
        case .lose(let party):
            state.lossesLeft -= 1
            state[party].signals -= 1
            noteFault(in: &state)
        case .tick: tick(in: &state, noting: &findings)
        }
    }

    /// The waits of the rules begin anew.
    private func noteFault(in state: inout RestingState) {
        state.pushAge = 0
        for party in parties { state[party].sought = 0 }
    }

    private func launch(in state: inout RestingState) {
        state.push = .awaited
        state.third.phase = .seeking
    }

    private func reap(_ party: Party, in state: inout RestingState) {
        state[party].life = .gone
        if state.owner == party { endEpoch(by: party, in: &state) }
        if state.rest == party, !lacks(.restOutlivesSession) { setRest(nil, by: party, in: &state) }
        if state.handover == party { setHandover(nil, by: party, in: &state) }
        guard party == .executor else { return }
        // The next one is another process.
        state.third.life = .running
        if state.push == .awaited { state.push = .inHand }
    }

    // MARK: - The steps of a process

    private func move(_ party: Party, _ move: Move, in state: inout RestingState, noting findings: inout Findings) {
        switch move {
        case .stopCore:
            state[party].core = .none
            state[party].isInForce = false
            state[party].isSuperseded = false
        case .seek: seek(party, in: &state)
        case .goOn:
            state[party].core = .running
            state[party].phase = .owning
            findings.reaches("an offer was refused")
        case .fallAsleep:
            // The participant starts its wait first and reads then: the wake may have come before.
            state[party].phase = state.wake != .none && !lacks(.noLookBeforeSleep) ? .waking : .asleep
            state[party].slept = 0
            state[party].signals = 0
        case .look:
            state[party].signals = 0
            state[party].slept = 0
            let isQuiet = state.owner == .holder && state.rest == party && state.wake == .none
            if !isQuiet || state[party].hasReason { state[party].phase = .waking }
        case .deliver:
            judgeDelivery(by: party, in: state, noting: &findings)
            state.push = .none
            state.pushAge = 0
        case .leave: state[party].phase = .away
        case .accept:
            judgeRefusal(of: party, in: state, noting: &findings)
            state[party].phase = .away
        case .launch: launch(in: &state)
        }
    }

    private func seek(_ party: Party, in state: inout RestingState) {
        state[party].phase = .seeking
        state[party].hasReason = false
        state[party].signals = 0
        (state[party].waited, state[party].wakeWaited, state[party].silence, state[party].sought) = (0, 0, 0, 0)
    }

    // MARK: - Commits

    /// Returns the entries that a commit relies on.
    private func guards(of commit: Commit) -> Keys {
        switch commit {
        case .acquire: lacks(.acquirePastRest) ? [.owner, .handover] : [.owner, .handover, .rest]
        case .acquirePastRest: [.owner, .handover, .rest, .wake]
        case .supersede:
            lacks(.supersedeByEpochAlone) ? [.epoch, .handover, .challenge] : [.owner, .handover, .challenge, .rest]
        case .fence: [.owner, .handover, .rest]
        case .ask: [.epoch, .handover, .rest]
        case .removeRequest: [.handover]
        case .challenge, .answer: [.epoch, .challenge]
        case .release: [.owner]
        case .startCore: [.epoch]
        case .offer: [.epoch, .handover]
        case .withdraw: lacks(.withdrawOfTaken) ? [.epoch] : [.owner, .rest]
        case .take:
            lacks(.takeOfWithdrawn)
                ? [.epoch, .handover] : lacks(.takePastRequest) ? [.owner, .rest] : [.owner, .rest, .handover]
        case .refuse: [.owner, .rest]
        case .releaseOfDead: [.owner, .rest]
        case .releaseOfSilent: lacks(.releaseByEpochAlone) ? [.epoch] : [.owner, .rest, .wake]
        case .resume: lacks(.resumeWithoutAsking) ? [] : [.owner, .rest]
        case .reacquire: lacks(.reacquirePastRequest) ? [.owner, .rest] : [.owner, .rest, .handover]
        case .letGo: [.rest]
        case .wake, .wakeAgain: [.owner, .rest, .wake]
        }
    }

    private func refused(
        _ commit: Commit, of party: Party, in state: inout RestingState, noting findings: inout Findings
    ) {
        switch commit {
        case .offer:
            // The participant reads at once: as an owner it continues, otherwise it has lost the ownership.
            state[party].phase = .owning
            state[party].core = state[party].isInForce ? .running : .quiet
        case .resume:
            findings.reaches("a resume was refused, because the rest was over")
            state[party].core = .quiet
        case .releaseOfSilent where state.owner != .holder:
            findings.reaches("a release was refused, because Main had resumed")
        case .supersede, .fence:
            if let owner = state.owner, owner.isMain {
                findings.reaches("a take-over was refused, because the owner had changed")
            }
        case .withdraw where state.owner == .holder:
            findings.reaches("a withdrawal was refused, because the offer was taken")
        case .take where state.rest == nil: findings.reaches("an offer was withdrawn before it was taken")
        default: break
        }
    }

    private func perform(
        _ commit: Commit, of party: Party, in state: inout RestingState, noting findings: inout Findings
    ) {
        judge(commit, by: party, in: state, noting: &findings)
        switch commit {
        case .acquire: own(party, in: &state)
        case .acquirePastRest, .supersede, .fence:
            supersedeCores(but: party, in: &state)
            setRest(nil, by: party, in: &state)
            own(party, in: &state)
        case .ask:
            setHandover(party, by: party, in: &state)
            state[party].waited = 0
            state[party].askedAtRest = state.isAtRest
            if state.isAtRest, state.wake == .none { setWake(.once, by: party, in: &state) }
        case .removeRequest: setHandover(nil, by: party, in: &state)
        case .challenge: setChallenge(.open, by: party, in: &state)
        case .answer: setChallenge(.answered, by: party, in: &state)
        case .release:
            endEpoch(by: party, in: &state)
            // A Main that another one has taken over from is done; an Executor may have its push to wait for.
            if party.isMain || state.push != .awaited { state[party].phase = .away } else { seek(party, in: &state) }
        case .startCore:
            state[party].core = .running
            state[party].isInForce = true
        case .offer:
            setRest(party, by: party, in: &state)
            state[party].phase = .offered
            state[party].waited = 0
        case .withdraw:
            setRest(nil, by: party, in: &state)
            state[party].core = .running
            state[party].phase = .owning
        case .take: setOwner(.holder, by: party, in: &state)
        case .refuse: setRest(nil, by: party, in: &state)
        case .releaseOfDead: endEpoch(by: party, in: &state)
        case .releaseOfSilent:
            supersedeCores(but: party, in: &state)
            endEpoch(by: party, in: &state)
            setRest(nil, by: party, in: &state)
        case .resume:
            if state.owner == nil || !state[party].isInForce {
                // Without its guards it makes the entry anew.
                endEpoch(by: party, in: &state)
            }
            setOwner(party, by: party, in: &state)
            setRest(nil, by: party, in: &state)
            state[party].core = .running
            state[party].phase = .owning
            state[party].hasReason = false
        case .reacquire:
            setRest(nil, by: party, in: &state)
            own(party, in: &state)
            state[party].hasReason = false
        case .letGo:
            setRest(nil, by: party, in: &state)
            seek(party, in: &state)
        case .wake: setWake(.once, by: party, in: &state)
        case .wakeAgain: setWake(.again, by: party, in: &state)
        }
    }

    /// Makes a participant the owner by an epoch of its own.
    private func own(_ party: Party, in state: inout RestingState) {
        endEpoch(by: party, in: &state)
        setOwner(party, by: party, in: &state)
        if state.handover == party { setHandover(nil, by: party, in: &state) }
        state[party].phase = .owning
        (state[party].waited, state[party].wakeWaited, state[party].silence, state[party].sought) = (0, 0, 0, 0)
    }

    /// The cores stop when their processes learn of it, like the core of a frozen owner. The rules have checked that
    /// this is allowed.
    private func supersedeCores(but party: Party, in state: inout RestingState) {
        for other in parties where other != party && state[other].core != .none { state[other].isSuperseded = true }
    }

    // MARK: - Entries

    private func changed(_ keys: Keys, by party: Party?, in state: inout RestingState) {
        for other in parties where other != party { state[other].unchanged.subtract(keys) }
    }

    /// A Main at rest watches the owner's entry, its record of rest and the wake.
    private func signal(in state: inout RestingState, but party: Party) {
        for other in parties where other != party && state[other].phase == .asleep {
            state[other].signals = min(state[other].signals + 1, Self.mostSignals)
        }
    }

    private func setOwner(_ owner: Party, by party: Party, in state: inout RestingState) {
        state.owner = owner
        changed(.owner, by: party, in: &state)
        for party in parties { state[party].silence = 0 }
    }

    /// Deletes the owner's entry, and with it the epoch.
    private func endEpoch(by party: Party, in state: inout RestingState) {
        state.owner = nil
        changed([.owner, .epoch], by: party, in: &state)
        for party in parties { state[party].isInForce = false }
        setChallenge(.none, by: party, in: &state)
        signal(in: &state, but: party)
    }

    func setChallenge(_ challenge: RestingState.Challenge, by party: Party? = nil, in state: inout RestingState) {
        guard state.challenge != challenge else { return }
        state.challenge = challenge
        changed(.challenge, by: party, in: &state)
        for party in parties { state[party].silence = 0 }
    }

    private func setRest(_ rest: Party?, by party: Party, in state: inout RestingState) {
        if state.rest != rest {
            state.rest = rest
            changed(.rest, by: party, in: &state)
            signal(in: &state, but: party)
        }
        // A wake names its rest, so it ends with the rest.
        if state.wake != .none {
            state.wake = .none
            changed(.wake, by: party, in: &state)
        }
        for party in parties { state[party].wakeWaited = 0 }
    }

    private func setWake(_ wake: RestingState.Wake, by party: Party, in state: inout RestingState) {
        state.wake = wake
        changed(.wake, by: party, in: &state)
        signal(in: &state, but: party)
        // The second half of the bound counts from the repetition.
        guard wake == .again else { return }
        for party in parties { state[party].wakeWaited = min(state[party].wakeWaited, Self.wakeBound / 2) }
    }

    private func setHandover(_ handover: Party?, by party: Party, in state: inout RestingState) {
        guard state.handover != handover else { return }
        state.handover = handover
        changed(.handover, by: party, in: &state)
        for party in parties { state[party].silence = 0 }
    }
}
