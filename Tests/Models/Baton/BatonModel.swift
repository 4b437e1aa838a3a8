/// The hand-over of a call by a baton (decision 45): an old owner, a new one, a third that wants to own, and a host that keeps
/// the baton too. Each may die, or freeze and thaw again, before each of the steps.
///
/// A commit is one step, with its guards. A participant's read, its commit and its next action are separate steps. Time
/// passes in ticks, and only when each process that can run has done all that it would do now.
struct BatonModel: Model {
    typealias State = BatonState

    /// A step of the model: an event, or an action of a participant.
    enum Step: Hashable {
        case ask(Int)
        case quiet(Int)
        case deposit(Int), keep, heardKept(Int), keepTimedOut(Int)
        case offer(Int)
        /// Only if the release is a separate commit.
        case release(Int)
        case acquire(Int), supersede(Int), removeRequest(Int)
        case look(Int)
        case fetch(Int), fetchFailed(Int), refuse(Int)
        /// The participant's core fails before it has used the baton, so the participant releases.
        case giveBack(Int)
        case fail(Int), endLost(Int)
        case apply(Int)
        case activate(Int)
        case see, forget
        case settle(Int), expire(Int)
        case learn(Int), hangUp(Int)
        case die(Int), freeze(Int), thaw(Int), reap(Int)
        case tick
    }

    /// How long a baton lives, and how long the waits are, in ticks.
    static let lifetime: UInt8 = 4
    static let depositBound: UInt8 = 1
    static let fetchBound: UInt8 = 1
    static let answerBound: UInt8 = 2

    let setting: BatonSetting
    /// The protection that is left out.
    var lacks: BatonMutation?

    var initial: BatonState {
        BatonState(
            hostLife: setting.hasHost ? .running : .dead, deathsLeft: setting.deaths, freezesLeft: setting.freezes,
            failuresLeft: setting.failures, offersLeft: setting.offers)
    }
}

/// The outcome of each step.
extension BatonModel {
    func take(_ step: Step, in state: inout BatonState, noting findings: inout Findings) {
        let before = state
        switch step {
        case .ask(let number):
            state.asker = UInt8(number + 1)
            state[number].phase = .seeking
        case .acquire(let number), .supersede(let number): acquire(number, in: &state)
        case .removeRequest: state.asker = 0
        case .look(let number), .fetch(let number), .fetchFailed(let number), .refuse(let number), .fail(let number),
            .endLost(let number), .apply(let number), .activate(let number), .learn(let number), .hangUp(let number),
            .giveBack(let number):
            advance(number, by: step, in: &state, noting: &findings)
        case .die(let number), .freeze(let number), .thaw(let number), .reap(let number):
            if case .die = step { findings.reaches("a death behind step \(state.stage)") }
            if case .freeze = step { findings.reaches("a freeze behind step \(state.stage)") }
            befall(number, step, in: &state)
        case .tick: tick(&state)
        default: handOver(by: step, in: &state)
        }
        noteFailedKeepers(in: &state)
        check(state, after: step, from: before, noting: &findings)
    }

    private func acquire(_ number: Int, in state: inout BatonState) {
        state.epoch += 1
        state.owner = UInt8(number + 1)
        if state.asker == number + 1 { state.asker = 0 }
        state[number].phase = .starting
        state[number].epoch = state.epoch
    }

    /// The steps of a participant that gives a baton, and of the host.
    private func handOver(by step: Step, in state: inout BatonState) {
        switch step {
        case .quiet(let number):
            state.offersLeft -= 1
            state[number].phase = .quiet
            if lacks != .stopsFirst { state[number].sends = false }
        case .deposit(let number): deposit(number, in: &state)
        case .keep:
            state.hostAnswered = state.hostMail
            let isInTime = state.age(of: state.hostMail) < Self.lifetime || lacks == .lifetime
            state.hostHolds = isInTime ? state.hostMail : 0
            state.hostMail = 0
        case .heardKept(let number), .keepTimedOut(let number):
            let isKept = step == .heardKept(number)
            state.isAtHost = isKept
            state[number].phase = state[number].awaits == 0 ? .offering : .released
            if !isKept, lacks == .noBytes { state.storeHasBytes = true }
        case .release: state.owner = 0
        case .offer(let number): offer(number, in: &state)
        case .see: state.hostView = state.view
        case .forget: state.hostHolds = 0
        case .settle(let number):
            var me = state[number]
            if state.record == .failed, state.number == me.awaits {
                state.record = .none
                me.mustHangUp = true
            }
            (me.awaits, me.keeps) = (0, 0)
            state[number] = me
        case .expire(let number):
            if lacks != .expireCommit { state.record = .none }
            (state[number].awaits, state[number].keeps) = (0, 0)
            state[number].mustHangUp = true
        default: break
        }
    }

    private func deposit(_ number: Int, in state: inout BatonState) {
        state.sealed += 1
        (state.formerAge, state.age) = (state.age, 0)
        state.senderEpoch = state[number].epoch
        state.hostMail = state.hostLife == .dead ? 0 : state.sealed
        (state[number].keeps, state[number].holds) = (state.sealed, 0)
        state[number].phase = .depositing
        state[number].waited = 0
    }

    private func offer(_ number: Int, in state: inout BatonState) {
        let isGuarded = lacks != .offerGuard && lacks != .oneCommit
        guard state.owns(number) || !isGuarded else {
            state[number].phase = .released
            state[number].epoch = 0
            if lacks == .refusedEnds { return }
            state[number].mustHangUp = true
            state[number].keeps = 0
            return
        }
        if state.owns(number) { state.owner = 0 }
        if lacks == .depositFirst {
            deposit(number, in: &state)
            state.isAtHost = setting.hasHost
        } else {
            state[number].phase = .released
        }
        state.record = .offered
        state.number = state.sealed
        state.giver = UInt8(number)
        (state.hasGiverFailed, state.hasHostFailed) = (false, false)
        state[number].awaits = state.number
        state[number].epoch = 0
        if lacks == .oldOwnerKeeps { state[number].keeps = 0 }
    }

    /// Performs the steps of a participant that owns, or believes that it owns.
    private func advance(_ number: Int, by step: Step, in state: inout BatonState, noting findings: inout Findings) {
        var me = state[number]
        defer { state[number] = me }
        switch step {
        case .look:
            if state.record == .offered {
                if lacks == .notLostWhileOffered { endLost(me, in: &state) }
                me.phase = .fetching
                me.waited = 0
            } else {
                me.phase = .endingLost
            }
        case .fetch:
            me.holds = state.number
            me.phase = .prepared
        case .fetchFailed, .refuse:
            me.phase = .failing
            me.holds = 0
        case .fail:
            guard state.owns(number) else { return lose(&me, number) }
            if state.record == .offered {
                let isKept = !state.hasGiverFailed || state.isAtHost && !state.hasHostFailed
                if isKept, state.age(of: state.number) < Self.lifetime {
                    findings.breaks("not lost", "the baton has failed, though one that keeps it runs")
                }
                state.record = .failed
                findings.reaches("failed")
            }
            me.phase = .endingLost
        case .endLost:
            guard state.owns(number) else { return lose(&me, number) }
            if lacks != .endsLost { endLost(me, in: &state) }
            if state.endings > 0 { findings.reaches("ended as lost") }
            me.phase = .running
        case .apply:
            guard state.owns(number) || lacks == .applyEpochGuard else { return lose(&me, number) }
            guard state.record == .offered || lacks == .applyRecordGuard else {
                me.holds = 0
                me.phase = .starting
                return
            }
            if lacks != .applyRemoves { state.record = .none }
            if lacks != .recordMoves { state.callEpoch = me.epoch }
            state.wasAppliedTwice = state.applied == me.holds
            state.applied = me.holds
            if !state.owns(number) { findings.breaks("applied once", "the baton was applied in an epoch that is over") }
            if state.endings > 0 { findings.breaks("one end", "the call was applied when its record had ended") }
            if state.isHungUp { findings.breaks("one call", "the call was applied when it was ended over the network") }
            findings.reaches("applied by \(BatonState.names[number])")
            if state.failuresLeft < setting.failures { findings.reaches("applied behind a core that failed") }
            if me.holds == 2 { findings.reaches("applied when it had moved before") }
            if state[Int(state.giver)].life == .dead { findings.reaches("applied when the one that gave it was dead") }
            if me.phase == .prepared { me.phase = .applied }
        case .activate:
            me.phase = .active
            me.sends = true
        case .giveBack:
            state.failuresLeft -= 1
            if state.owns(number) { state.owner = 0 }
            lose(&me, number)
        case .learn: lose(&me, number)
        case .hangUp:
            let others = BatonState.participants.filter { $0 != number }
            if others.contains(where: { state[$0].sends || state[$0].phase == .applied }) {
                findings.breaks("one call", "\(BatonState.names[number]) ends over the network what another has")
            }
            me.mustHangUp = false
            me.holds = 0
            state.isHungUp = true
        default: break
        }
    }

    /// Ends the ownership of a participant.
    private func lose(_ me: inout BatonState.Participant, _ number: Int) {
        if me.phase == .active || me.phase == .applied { me.mustHangUp = true }
        me.sends = false
        me.epoch = 0
        me.phase = number == BatonState.oldOwner || me.awaits != 0 ? .released : .seeking
        if lacks != .takerCloses { me.holds = 0 }
    }

    private func endLost(_ me: BatonState.Participant, in state: inout BatonState) {
        guard state.isCallOpen, state.callEpoch < me.epoch else { return }
        state.isCallOpen = false
        state.endings += 1
    }

    private func befall(_ number: Int, _ step: Step, in state: inout BatonState) {
        switch step {
        case .die where number == BatonState.host:
            state.deathsLeft -= 1
            state.hostLife = .dead
            (state.hostHolds, state.hostMail) = (0, 0)
        case .die:
            state.deathsLeft -= 1
            state[number] = BatonState.Participant(life: .dead, phase: .dead)
        case .freeze:
            state.freezesLeft -= 1
            if number == BatonState.host { state.hostLife = .frozen } else { state[number].life = .frozen }
        case .thaw where number == BatonState.host: state.hostLife = .running
        case .thaw:
            state[number].life = .running
            state[number].silent = 0
        default:
            state[number].isReaped = true
            if Int(state.owner) == number + 1 { state.owner = 0 }
            if state.asker == number + 1 { state.asker = 0 }
        }
    }

    private func tick(_ state: inout BatonState) {
        if state.sealed > 0 { state.age = min(state.age + 1, Self.lifetime) }
        if state.sealed > 1 { state.formerAge = min(state.formerAge + 1, Self.lifetime) }
        for number in BatonState.participants {
            if state[number].life == .frozen {
                state[number].silent = min(state[number].silent + 1, Self.answerBound)
            }
            switch state[number].phase {
            case .fetching: state[number].waited = min(state[number].waited + 1, Self.fetchBound + 1)
            case .depositing: state[number].waited = min(state[number].waited + 1, Self.depositBound + 1)
            default: state[number].waited = 0
            }
        }
    }

    private func noteFailedKeepers(in state: inout BatonState) {
        guard state.record == .offered else { return }
        if state[Int(state.giver)].life != .running { state.hasGiverFailed = true }
        if state.hostLife != .running { state.hasHostFailed = true }
    }
}
