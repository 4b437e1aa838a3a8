/// The rules of the model.
extension RestingModel {
    /// Checks a commit that takes effect.
    func judge(_ commit: Commit, by party: Party, in state: RestingState, noting findings: inout Findings) {
        switch commit {
        case .take, .acquire, .acquirePastRest, .supersede, .reacquire:
            if let asking = state.handover, asking != party {
                findings.breaks("C3", "\(party) comes to own past the request of \(asking)")
            }
        default: break
        }
        switch commit {
        case .acquire:
            findings.reaches("\(party) acquired")
        case .acquirePastRest:
            judgeEndOfRest(by: party, in: state, noting: &findings)
            findings.reaches("\(party) acquired past a Main that did not resume")
        case .supersede:
            guard let owner = state.owner else { break }
            if state[owner].canRun, state[owner].ran >= Self.answerBound {
                findings.breaks("C6", "\(owner) could answer, and is superseded")
            }
            judgeEndOfRest(by: party, in: state, noting: &findings)
            findings.reaches("\(party) superseded \(state.isAtRest ? "a Main at rest and its holder" : "\(owner)")")
        case .fence:
            guard let owner = state.owner else { break }
            if owner != .holder, state[owner].canRun, state[owner].ran >= Self.handoverBound {
                findings.breaks("C3", "\(owner) could hand over, and is superseded")
            }
            judgeEndOfRest(by: party, in: state, noting: &findings)
            findings.reaches("\(party) superseded one that did not hand over")
        case .releaseOfSilent:
            judgeRelease(in: state, noting: &findings)
            judgeEndOfRest(by: party, in: state, noting: &findings)
            findings.reaches("the holder released for a Main that did not resume")
        case .releaseOfDead:
            judgeRelease(in: state, noting: &findings)
            findings.reaches("the holder released for a Main that had ended")
        case .startCore: judgeStart(by: party, in: state, noting: &findings)
        case .take: findings.reaches("\(state.rest ?? party) came to rest")
        case .resume: findings.reaches("\(party) resumed" + (state.wake == .none ? " by itself" : " when it was woken"))
        case .reacquire: findings.reaches("\(party) acquired again after its holder's end")
        case .letGo: findings.reaches("\(party) let go of its rest after its holder's end")
        case .withdraw: findings.reaches("\(party) withdrew its offer")
        case .wakeAgain: findings.reaches("a wake was repeated")
        case .removeRequest: findings.reaches("the request of a frozen Main was removed")
        case .release: if party.isMain { findings.reaches("\(party) handed over") }
        case .ask, .challenge, .answer, .offer, .refuse, .wake: break
        }
    }

    /// No Main is released while it may run.
    private func judgeRelease(in state: RestingState, noting findings: inout Findings) {
        for party in parties where party.isMain && state[party].core == .running && state[party].isInForce {
            findings.breaks("rest", "the holder releases, and \(party) runs its core and may")
        }
    }

    /// Only the Main itself ends its rest, if it could run.
    private func judgeEndOfRest(by party: Party, in state: RestingState, noting findings: inout Findings) {
        guard let sleeper = state.rest, sleeper != party else { return }
        if state[sleeper].canRun, state[sleeper].ran >= Self.wakeBound {
            findings.breaks("rest", "\(sleeper) could resume, and \(party) ends its rest")
        }
    }

    private func judgeStart(by party: Party, in state: RestingState, noting findings: inout Findings) {
        if state.owner != party { findings.breaks("C4", "\(party) starts a core, and \(name(state.owner)) owns") }
        if state[party].core != .none { findings.breaks("C1", "\(party) starts a core beside its own at rest") }
        for other in parties where other != party && state[other].core != .none {
            let bound = state[other].core == .quiet ? Self.wakeBound : Self.answerBound
            guard state[other].canRun, !state[other].isSuperseded, state[other].ran >= bound else { continue }
            findings.breaks(
                "C1", "\(party) starts a core, and that of \(other), which could run, is \(state[other].core)")
        }
    }

    func judgeDelivery(by party: Party, in state: RestingState, noting findings: inout Findings) {
        if state.owner != party { findings.breaks("C4", "\(party) delivers, and \(name(state.owner)) owns") }
        findings.reaches("a push was answered by \(party)")
    }

    /// A second Main is refused on the word of the first.
    func judgeRefusal(of party: Party, in state: RestingState, noting findings: inout Findings) {
        if state.owner == .holder {
            findings.breaks("C14", "\(party) is refused because of a Main that may never wake")
        }
        findings.reaches("\(party) was refused")
    }

    private func name(_ party: Party?) -> String { party.map(\.description) ?? "no participant" }

    // MARK: - Time

    func tick(in state: inout RestingState, noting findings: inout Findings) {
        judgeRest(in: state, noting: &findings)
        // An answer counts for a tick.
        if state.challenge == .answered {
            setChallenge(.none, in: &state)
        }
        for party in parties where state[party].canRun { count(party, in: &state, noting: &findings) }
        let isServed = state.third.canRun && (state.push == .awaited || state.holder.canRun)
        if state.push != .none, isServed { state.pushAge += 1 }
        if state.pushAge > Self.pushBound { findings.breaks("P10", "a push waits for \(state.pushAge) ticks") }
    }

    /// Checks the conditions that hold when no participant that can run has a step left.
    private func judgeRest(in state: RestingState, noting findings: inout Findings) {
        for party in parties where state[party].canRun {
            let participant = state[party]
            if participant.core == .running, state.owner != party || !participant.isInForce {
                findings.breaks("C4", "\(party) runs its core, and \(name(state.owner)) owns")
            }
            if participant.core == .quiet, participant.phase == .seeking || participant.phase == .away {
                findings.breaks("C1", "the core of \(party) stays at rest, and its epoch is over")
            }
        }
        guard state.owner == .holder, state.holder.canRun else { return }
        if state.rest == nil || state.rest.map({ state[$0].life == .gone }) == true {
            findings.breaks("C6", "the holder owns for a Main that has ended")
        }
        if state.challenge == .open { findings.breaks("C6", "the holder does not answer") }
    }

    private func count(_ party: Party, in state: inout RestingState, noting findings: inout Findings) {
        var participant = state[party]
        defer { state[party] = participant }
        func raise(_ count: inout UInt8, to bound: UInt8) { count = min(count + 1, bound) }
        raise(&participant.ran, to: Self.wakeBound)
        switch participant.phase {
        case .seeking:
            if state.wake != .none { raise(&participant.wakeWaited, to: Self.wakeBound) }
            if let asking = state.handover, asking != party {
                if state[asking].canRun {
                    participant.silence = 0
                } else {
                    raise(&participant.silence, to: Self.answerBound)
                }
            } else if state.challenge == .open {
                raise(&participant.silence, to: Self.answerBound)
            }
            if state.handover == party { raise(&participant.waited, to: Self.handoverBound + Self.wakeBound) }
            guard party.isMain else { break }
            participant.sought += 1
            if participant.sought > Self.seekBound {
                findings.breaks("C3", "\(party) seeks ownership for \(participant.sought) ticks")
            }
        case .offered:
            participant.waited += 1
            if participant.waited > Self.offerBound {
                findings.breaks("rest", "the offer of \(party) has stood for \(participant.waited) ticks")
            }
        case .asleep:
            raise(&participant.slept, to: Self.idleBound + 1)
            let isOver = state.owner != .holder || state.rest != party
            if participant.slept > Self.idleBound, isOver {
                findings.breaks("rest", "\(party) does not see that its rest is over")
            }
        case .away where party == .holder:
            guard state.isAtRest, state.wake != .none else { break }
            participant.wakeWaited += 1
            if participant.wakeWaited > Self.wakeBound {
                findings.breaks("rest", "a wake has stood for \(participant.wakeWaited) ticks")
            }
        case .away, .owning, .offering, .waking: break
        }
    }
}
