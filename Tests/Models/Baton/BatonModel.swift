/// The hand-over of a call by a baton (decision 45): an old owner, a new one, a third that wants to own, and a host that keeps
/// the baton too. Each may die, or freeze and thaw again, before each of the steps.
///
/// A commit is one step, with its guards; what a participant reads, what it commits, and what it does behind that are steps of their
/// own. Time passes in ticks, and only when each process that can run has done all that it would do now.
struct BatonModel: Model {
    typealias State = BatonState

    /// One thing that happens.
    enum Step: Hashable {
        case ask(Int)
        case quiet(Int)
        case deposit(Int), keep, heardKept(Int), keepTimedOut(Int)
        case offer(Int)
        /// Only where the release is a commit of its own.
        case release(Int)
        case acquire(Int), supersede(Int), removeRequest(Int)
        case look(Int)
        case fetch(Int), fetchFailed(Int), refuse(Int)
        /// Its core fails before it has used the baton, so that it releases.
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
    /// The protection that is taken out.
    var lacks: BatonMutation?

    var initial: BatonState {
        BatonState(
            hostLife: setting.hasHost ? .running : .dead, deathsLeft: setting.deaths, freezesLeft: setting.freezes,
            failuresLeft: setting.failures, offersLeft: setting.offers)
    }
}

// MARK: - What can happen

extension BatonModel {
    func steps(in state: BatonState) -> [Step] {
        var steps: [Step] = []
        for number in BatonState.participants {
            switch state[number].life {
            case .running:
                addSteps(of: number, in: state, to: &steps)
                addStepsToGive(number, in: state, to: &steps)
            case .dead where !state[number].isReaped: steps.append(.reap(number))
            case .dead, .frozen: break
            }
        }
        addStepsOfHost(in: state, to: &steps)
        let isIdle = steps.isEmpty
        // A request may come at any time, and the faults too.
        for number in [1, 2] where mayAsk(number, in: state) { steps.append(.ask(number)) }
        for number in BatonState.participants where state[number].life == .running && state.failuresLeft > 0 {
            if [.fetching, .prepared].contains(state[number].phase) { steps.append(.giveBack(number)) }
        }
        for number in 0...3 {
            let life = state.life(of: number)
            if life == .frozen { steps.append(.thaw(number)) }
            if life == .running, state.freezesLeft > 0 { steps.append(.freeze(number)) }
            if life != .dead, state.deathsLeft > 0 { steps.append(.die(number)) }
        }
        if isIdle { steps.append(.tick) }
        return steps
    }

    private func mayAsk(_ number: Int, in state: BatonState) -> Bool {
        guard state[number].life == .running, state.owner != 0, state.asker == 0, state.offersLeft > 0 else {
            return false
        }
        if state.epoch == 1 { return number == 1 && state.new.phase == .idle }
        return state[number].phase == .seeking && state[Int(state.owner) - 1].phase == .active
    }

    /// The steps of a participant that wants to own, or owns.
    private func addSteps(of number: Int, in state: BatonState, to steps: inout [Step]) {
        let me = state[number]
        switch me.phase {
        case .seeking: addStepsToOwn(number, in: state, to: &steps)
        case .starting: steps.append(.look(number))
        case .fetching:
            switch canBeHad(in: state) {
            case true?: steps.append(.fetch(number))
            case false?: steps.append(.fetchFailed(number))
            case nil:
                if me.waited >= Self.fetchBound, lacks != .fetchBound { steps.append(.fetchFailed(number)) }
            }
        case .prepared:
            steps.append(lacks == .applyFirst ? .activate(number) : .apply(number))
            // Its own clock says so; what it commits meanwhile is decided by the record.
            if state.age(of: me.holds) >= Self.lifetime { steps.append(.refuse(number)) }
        case .failing: steps.append(.fail(number))
        case .endingLost: steps.append(.endLost(number))
        case .applied: steps.append(.activate(number))
        case .active where lacks == .applyFirst && state.callEpoch < me.epoch: steps.append(.apply(number))
        case .active, .idle, .quiet, .depositing, .offering, .released, .running, .dead: break
        }
        if me.mustHangUp { steps.append(.hangUp(number)) }
        switch me.phase {
        case .active, .starting, .fetching, .prepared, .failing, .endingLost, .applied, .running:
            if !state.owns(number), lacks != .learnsOfIt { steps.append(.learn(number)) }
        case .idle, .seeking, .quiet, .depositing, .offering, .released, .dead: break
        }
    }

    private func addStepsToOwn(_ number: Int, in state: BatonState, to steps: inout [Step]) {
        if state.asker != 0, state.asker != number + 1 {
            if isSilent(state[Int(state.asker) - 1]) { steps.append(.removeRequest(number)) }
        } else if state.owner == 0 {
            steps.append(.acquire(number))
        } else if isSilent(state[Int(state.owner) - 1]) {
            steps.append(.supersede(number))
        }
    }

    private func isSilent(_ holder: BatonState.Participant) -> Bool {
        holder.life == .frozen && holder.silent >= Self.answerBound
    }

    /// Whether one of its keepers has the baton; nil while none has said so and one says nothing.
    private func canBeHad(in state: BatonState) -> Bool? {
        let giver = state[Int(state.giver)]
        var keepers = [(giver.life, giver.keeps == state.number)]
        if state.isAtHost { keepers.append((state.hostLife, state.hostHolds == state.number)) }
        if keepers.contains(where: { $0 == (.running, true) }) { return true }
        return keepers.contains { $0.0 == .frozen } ? nil : false
    }

    /// The steps of an owner that is asked, up to the end of its baton.
    private func addStepsToGive(_ number: Int, in state: BatonState, to steps: inout [Step]) {
        let me = state[number]
        switch me.phase {
        case .active where state.asker != 0 && state.owns(number) && state.offersLeft > 0: steps.append(.quiet(number))
        // It has one baton at a time: that of an earlier offer, which it has applied itself, is closed first.
        case .quiet where me.awaits == 0 || lacks == .oneAtATime:
            steps.append(lacks == .depositFirst ? .offer(number) : .deposit(number))
        case .depositing:
            if state.hostAnswered == state.sealed { steps.append(.heardKept(number)) }
            let isOver = me.waited >= Self.depositBound && lacks != .depositBound
            if state.hostLife == .dead || isOver { steps.append(.keepTimedOut(number)) }
        case .offering:
            steps.append(lacks == .oneCommit && state.owns(number) ? .release(number) : .offer(number))
        // It owns again before the call is lost, where no Main waits.
        case .released where state.offered == me.awaits && me.awaits != 0 && lacks != .ownsAgain:
            addStepsToOwn(number, in: state, to: &steps)
        default: break
        }
        guard me.awaits != 0 else { return }
        let isOffered = lacks == .expireItsOwn ? state.offered != 0 : state.offered == me.awaits
        if !isOffered, lacks != .oldOwnerWatches { steps.append(.settle(number)) }
        if isOffered, state.age(of: me.awaits) >= Self.lifetime { steps.append(.expire(number)) }
    }

    private func addStepsOfHost(in state: BatonState, to steps: inout [Step]) {
        guard state.hostLife == .running else { return }
        if state.hostMail != 0 { steps.append(.keep) }
        guard state.hostHolds != 0 else { return }
        let view = state.hostView
        if view != state.view { steps.append(.see) }
        // By how it is, not by what has happened: the offer and the application may be one change to it.
        let isNew = view.epoch >= state.senderEpoch || lacks == .hostViewIsNew
        let isOver = isNew && !(view.epoch == state.senderEpoch && view.isOwned)
        let isOffered = view.offered == state.hostHolds && (lacks != .hostKeeps || state.owner == 0)
        let isPast = state.age(of: state.hostHolds) >= Self.lifetime && lacks != .lifetime
        if isOver && !isOffered && lacks != .hostWatches || isPast { steps.append(.forget) }
    }
}

// MARK: - What becomes of it

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

    /// The steps of one that owns, or believes it.
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

    /// It does not own any more.
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
