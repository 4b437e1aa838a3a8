/// How many faults of each kind there are, and which third participant.
struct RestingSetting: Hashable, Sendable {
    let name: String
    var third = Party.executor
    /// True if the second Main takes over.
    var takesOver = false
    var deaths: UInt8 = 0
    var freezes: UInt8 = 0
    /// The number of signals to a Main at rest that may be lost.
    var losses: UInt8 = 0
    /// The landmarks that the design has to reach in this setting.
    var landmarks: [String] = []
}

/// The design of decision 44: a Main that sleeps stays the owner, by a holder that owns for it.
///
/// Each participant reads the store, decides on a commit and makes it, in steps between which everything else may
/// happen. A commit takes effect if no entry that it relies on has changed. A tick passes when each participant that
/// can run has done all that it would do now; in everything else the order is free.
struct RestingModel: Model {
    typealias State = RestingState
    typealias Step = RestingStep

    /// For how many ticks an owner may leave a challenge unanswered (500 ms).
    static let answerBound: UInt8 = 2
    /// The ticks that a Main may take to resume, `wake.bound` (2 s). The wake is repeated after half of them.
    static let wakeBound: UInt8 = 4
    /// The ticks for which an offer lasts that no holder accepts (500 ms).
    static let offerBound: UInt8 = 2
    /// The ticks that an owner that was asked may take (500 ms).
    static let handoverBound: UInt8 = 2
    /// The ticks after which a Main at rest reads by itself (60 s). It is the longest bound, so that only steps without
    /// another way depend on it.
    static let idleBound: UInt8 = 6
    /// The ticks for which a push, and a Main with a goal, may wait after the last fault. A lower number would be
    /// violated.
    static let pushBound: UInt8 = 7
    static let seekBound: UInt8 = 7

    /// One more signal than can be lost.
    static let mostSignals: UInt8 = 2

    let setting: RestingSetting
    var mutation: RestingMutation?

    var parties: [Party] { [.main, .holder, setting.third] }

    var initial: RestingState {
        var state = RestingState(
            deathsLeft: setting.deaths, freezesLeft: setting.freezes, lossesLeft: setting.losses)
        state.main.phase = .seeking
        return state
    }

    func lacks(_ mutation: RestingMutation) -> Bool { self.mutation == mutation }

    // MARK: - Possible steps

    func steps(in state: RestingState) -> [RestingStep] {
        var steps: [RestingStep] = []
        for party in parties { if let step = next(of: party, in: state) { steps.append(step) } }
        let isDone = steps.isEmpty
        for party in parties { addEvents(of: party, in: state, to: &steps) }
        if setting.third == .executor {
            if state.push == .none { steps.append(.push) }
            if state.push == .inHand, state.third.phase == .away, state.third.life == .running {
                steps.append(.startExecutor)
            }
        }
        if setting.third == .secondMain, !state.third.wasOpened, state.third.life == .running {
            steps.append(.openSecondMain)
        }
        // The death of a process is noticed at once where any other can run.
        let isUnnoticed = parties.contains { state[$0].life == .dead } && parties.contains { state[$0].canRun }
        if isDone, !isUnnoticed { steps.append(.tick) }
        return steps
    }

    private func addEvents(of party: Party, in state: RestingState, to steps: inout [RestingStep]) {
        let participant = state[party]
        switch participant.life {
        case .running:
            if mayRest(party, in: state) { steps.append(.wantRest(party)) }
            if participant.phase == .asleep, !participant.hasReason { steps.append(.wantWake(party)) }
            if participant.phase == .asleep, participant.signals > 0, state.lossesLeft > 0 {
                steps.append(.lose(party))
            }
            guard isInvolved(party, in: state) else { break }
            if state.freezesLeft > 0 { steps.append(.freeze(party)) }
            if state.deathsLeft > 0 { steps.append(.die(party)) }
        case .frozen:
            steps.append(.thaw(party))
            if state.deathsLeft > 0 { steps.append(.die(party)) }
        case .dead: steps.append(.reap(party))
        case .gone:
            if party == .main || party == .holder { steps.append(.startAnew(party)) }
        }
    }

    private func mayRest(_ party: Party, in state: RestingState) -> Bool {
        let participant = state[party]
        return party.isMain && participant.phase == .owning && participant.core == .running && participant.isInForce
            && participant.pending == nil && state.owner == party && state.handover == nil
            && state.holder.life != .gone && (state.push != .awaited || lacks(.restBesideCall))
    }

    /// Returns true if a fault of the participant has consequences.
    private func isInvolved(_ party: Party, in state: RestingState) -> Bool {
        party == .holder || state[party].phase != .away || state[party].core != .none
    }

    // MARK: - The next step of a participant

    /// Returns the next step of a participant; nil if it has none before another event.
    func next(of party: Party, in state: RestingState) -> RestingStep? {
        let participant = state[party]
        guard participant.canRun else { return nil }
        if let pending = participant.pending { return .commit(party, pending) }
        switch party {
        case .holder: return nextOfHolder(in: state)
        case .executor: return nextOfExecutor(in: state)
        case .main, .secondMain: return nextOfMain(party, in: state)
        }
    }

    private func nextOfHolder(in state: RestingState) -> RestingStep? {
        func decide(_ commit: Commit) -> RestingStep { .decide(.holder, commit) }
        let hasReason = state.push != .none || state.handover != nil
        if state.owner == .holder {
            if state.challenge == .open, !lacks(.noAnswer) { return decide(.answer) }
            guard state.rest != nil else { return lacks(.noLookForDead) ? nil : decide(.releaseOfDead) }
            if state.wake == .none { return hasReason && !lacks(.noWake) ? decide(.wake) : nil }
            if let again = wakeAgain(.holder, in: state) { return again }
            return state.holder.wakeWaited >= Self.wakeBound && !lacks(.noRelease) ? decide(.releaseOfSilent) : nil
        }
        if let author = state.rest, state.owner == author {
            if state.handover != nil, lacks(.takePastRequest) { return decide(.take) }
            return decide(hasReason ? .refuse : .take)
        }
        return state.push == .inHand && state.third.phase == .away ? .move(.holder, .launch) : nil
    }

    private func wakeAgain(_ party: Party, in state: RestingState) -> RestingStep? {
        guard state.wake == .once, state[party].wakeWaited >= Self.wakeBound / 2, !lacks(.wakeOnce) else { return nil }
        return .decide(party, .wakeAgain)
    }

    private func nextOfExecutor(in state: RestingState) -> RestingStep? {
        let myself = state.third
        switch myself.phase {
        case .seeking: return state.push == .awaited ? seek(.executor, in: state) : .move(.executor, .leave)
        case .owning:
            if state.owner != .executor { return lost(.executor, in: state) }
            if state.challenge == .open { return .decide(.executor, .answer) }
            if state.handover != nil || state.push == .none {
                return myself.core == .none ? .decide(.executor, .release) : .move(.executor, .stopCore)
            }
            return myself.core == .none ? .decide(.executor, .startCore) : .move(.executor, .deliver)
        case .away, .offering, .offered, .asleep, .waking: return nil
        }
    }

    private func nextOfMain(_ party: Party, in state: RestingState) -> RestingStep? {
        let myself = state[party]
        switch myself.phase {
        case .away: return nil
        case .seeking: return seek(party, in: state)
        case .owning: return own(party, in: state)
        case .offering: return myself.isInForce ? .decide(party, .offer) : lost(party, in: state)
        case .offered: return awaitTake(party, in: state)
        case .asleep:
            let isDue = myself.slept >= Self.idleBound && !lacks(.noPoll)
            return myself.signals > 0 || myself.hasReason || isDue ? .move(party, .look) : nil
        case .waking: return wake(party, in: state)
        }
    }

    private func lost(_ party: Party, in state: RestingState) -> RestingStep? {
        switch state[party].core {
        case .none: .move(party, .seek)
        case .quiet where lacks(.coreOutlivesEpoch): .move(party, .seek)
        case .running, .quiet: .move(party, .stopCore)
        }
    }

    private func own(_ party: Party, in state: RestingState) -> RestingStep? {
        let myself = state[party]
        if state.owner != party { return lost(party, in: state) }
        // The core at rest of a Main that has acquired again: its epoch has ended.
        if myself.core != .none, !myself.isInForce {
            return lacks(.coreBesideRest) ? .decide(party, .startCore) : .move(party, .stopCore)
        }
        if state.challenge == .open { return .decide(party, .answer) }
        if state.handover != nil {
            return myself.core == .none ? .decide(party, .release) : .move(party, .stopCore)
        }
        if myself.core == .none { return .decide(party, .startCore) }
        return state.push == .awaited ? .move(party, .deliver) : nil
    }

    private func awaitTake(_ party: Party, in state: RestingState) -> RestingStep? {
        if state.owner == .holder, state.rest == party { return .move(party, .fallAsleep) }
        // The holder may have accepted it, and have ended since.
        if state.owner != party { return wake(party, in: state) }
        if lacks(.sleepBeforeTake) { return .move(party, .fallAsleep) }
        if state.rest != party { return .move(party, .goOn) }
        if state.challenge == .open { return .decide(party, .answer) }
        let isOver = state[party].waited >= Self.offerBound && !lacks(.noOfferBound)
        return state.handover != nil || isOver ? .decide(party, .withdraw) : nil
    }

    private func wake(_ party: Party, in state: RestingState) -> RestingStep? {
        guard state.rest == party else { return lost(party, in: state) }
        if state.owner == .holder { return .decide(party, .resume) }
        guard state.owner == nil else { return lost(party, in: state) }
        guard state.handover != nil, !lacks(.reacquirePastRequest) else { return .decide(party, .reacquire) }
        return state[party].core == .none ? .decide(party, .letGo) : .move(party, .stopCore)
    }

    // MARK: - Waiting for ownership

    private func seek(_ party: Party, in state: RestingState) -> RestingStep? {
        let myself = state[party]
        if let asking = state.handover, asking != party {
            return myself.silence >= Self.answerBound ? .decide(party, .removeRequest) : nil
        }
        guard let owner = state.owner else { return seekFree(party, in: state) }
        if asks(party, owner, in: state) {
            if state.handover == nil { return .decide(party, .ask) }
            let wake = myself.askedAtRest && !lacks(.deadlineWithoutWake) ? Self.wakeBound : 0
            if myself.waited >= Self.handoverBound + wake { return .decide(party, .fence) }
            return state.isAtRest ? wakeAgain(party, in: state) : nil
        }
        if party.isMain, state.isAtRest, state.wake == .none, !lacks(.refusedBySleeper) { return .decide(party, .wake) }
        switch state.challenge {
        case .none: return .decide(party, .challenge)
        case .answered:
            // The holder's answer refuses no second Main: the first may never wake.
            let isMains = owner.isMain || lacks(.refusedBySleeper) && state.isAtRest
            return party.isMain && isMains ? .move(party, .accept) : nil
        case .open:
            guard myself.silence >= Self.answerBound else { return nil }
            guard state.isAtRest, !lacks(.supersedeUnwoken) else { return .decide(party, .supersede) }
            return awaitResume(party, then: .supersede, in: state)
        }
    }

    /// Returns the next step when no participant owns. A Main that has lost its holder comes first, up to its bound.
    private func seekFree(_ party: Party, in state: RestingState) -> RestingStep? {
        guard state.rest != nil, !lacks(.acquirePastRest) else { return .decide(party, .acquire) }
        return lacks(.acquireWithoutWaiting)
            ? .decide(party, .acquirePastRest) : awaitResume(party, then: .acquirePastRest, in: state)
    }

    /// Wakes the Main that rests, and waits for its bound.
    private func awaitResume(_ party: Party, then commit: Commit, in state: RestingState) -> RestingStep? {
        if state.wake == .none { return .decide(party, .wake) }
        if let again = wakeAgain(party, in: state) { return again }
        return state[party].wakeWaited >= Self.wakeBound ? .decide(party, commit) : nil
    }

    private func asks(_ party: Party, _ owner: Party, in state: RestingState) -> Bool {
        guard party.isMain else { return false }
        if owner == .executor { return true }
        guard party == .secondMain, setting.takesOver else { return false }
        return owner == .main || state.isAtRest
    }
}
