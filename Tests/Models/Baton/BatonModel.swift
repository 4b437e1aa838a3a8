/// The hand-over of a call by a baton (decision 45): an old owner, a new one, a third that wants to own, and a host that keeps
/// the baton too. Each may die, or freeze and thaw again, before each of the steps.
///
/// A commit is one step, with its guards; what a participant reads, what it commits, and what it does behind that are steps of their
/// own. Time passes in ticks, and only when each process that can run has done all that it would do now.
struct BatonModel: Model {
    typealias State = BatonState

    /// One thing that happens.
    enum Step: Hashable {
        case ask
        case quiet
        case deposit, keep, heardKept, keepTimedOut
        case offer
        /// Only where the release is a commit of its own.
        case release
        case acquire(Int), supersede(Int), removeRequest(Int)
        case look(Int)
        case fetch(Int), fetchFailed(Int), refuse(Int)
        /// Its core fails before it has used the baton, so that it releases.
        case giveBack(Int)
        case fail(Int), endLost(Int)
        case apply(Int)
        case activate(Int)
        case see, forget
        case settle, expire
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
            failuresLeft: setting.failures)
    }
}

// MARK: - What can happen

extension BatonModel {
    func steps(in state: BatonState) -> [Step] {
        var steps: [Step] = []
        for number in BatonState.participants {
            switch state[number].life {
            case .running: addSteps(of: number, in: state, to: &steps)
            case .dead where !state[number].isReaped: steps.append(.reap(number))
            case .dead, .frozen: break
            }
        }
        addStepsOfOldOwner(in: state, to: &steps)
        addStepsOfHost(in: state, to: &steps)
        let isIdle = steps.isEmpty
        // The new owner may come at any time, and the faults too.
        if state.new.life == .running, state.new.phase == .idle, state.owner == 1, state.epoch == 1 {
            steps.append(.ask)
        }
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
            if state.age >= Self.lifetime { steps.append(.refuse(number)) }
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
        if state.isAsked, number != BatonState.newOwner {
            if isSilent(state.new) { steps.append(.removeRequest(number)) }
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
        var keepers = [(state.old.life, state.old.holds)]
        if state.isAtHost { keepers.append((state.hostLife, state.hostHolds)) }
        if keepers.contains(where: { $0 == (.running, true) }) { return true }
        return keepers.contains { $0.0 == .frozen } ? nil : false
    }

    private func addStepsOfOldOwner(in state: BatonState, to steps: inout [Step]) {
        let old = state.old
        guard old.life == .running else { return }
        switch old.phase {
        case .active where state.isAsked && state.owns(BatonState.oldOwner) && !state.isSealed: steps.append(.quiet)
        case .quiet: steps.append(lacks == .depositFirst ? .offer : .deposit)
        case .depositing:
            if state.hostHasAnswered { steps.append(.heardKept) }
            let isOver = old.waited >= Self.depositBound && lacks != .depositBound
            if state.hostLife == .dead || isOver { steps.append(.keepTimedOut) }
        case .offering:
            let isApart = lacks == .oneCommit && state.owns(BatonState.oldOwner)
            steps.append(isApart ? .release : .offer)
        case .released where state.record == .offered: addStepsToOwnAgain(in: state, to: &steps)
        default: break
        }
        guard state.oldAwaits else { return }
        if state.record != .offered, lacks != .oldOwnerWatches { steps.append(.settle) }
        if state.record == .offered, state.age >= Self.lifetime { steps.append(.expire) }
    }

    /// The old owner owns again before the call is lost, where no Main waits.
    private func addStepsToOwnAgain(in state: BatonState, to steps: inout [Step]) {
        if lacks != .ownsAgain { addStepsToOwn(BatonState.oldOwner, in: state, to: &steps) }
    }

    private func addStepsOfHost(in state: BatonState, to steps: inout [Step]) {
        guard state.hostLife == .running else { return }
        if state.hostHasMail { steps.append(.keep) }
        guard state.hostHolds else { return }
        let view = state.hostView
        if view != state.view { steps.append(.see) }
        // By how it is, not by what has happened: the offer and the application may be one change to it.
        let isNew = view.epoch >= 1 || lacks == .hostViewIsNew
        let isOver = isNew && !(view.epoch <= 1 && view.isOfOldOwner)
        let isOffered = view.isOffered && (lacks != .hostKeeps || state.owner == 0)
        let isPast = state.age >= Self.lifetime && lacks != .lifetime
        if isOver && !isOffered && lacks != .hostWatches || isPast { steps.append(.forget) }
    }
}

// MARK: - What becomes of it

extension BatonModel {
    func take(_ step: Step, in state: inout BatonState, noting findings: inout Findings) {
        let before = state
        switch step {
        case .ask:
            state.isAsked = true
            state.new.phase = .seeking
        case .acquire(let number), .supersede(let number): acquire(number, in: &state)
        case .removeRequest: state.isAsked = false
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
        if number == BatonState.newOwner { state.isAsked = false }
        state[number].phase = .starting
        state[number].epoch = state.epoch
    }

    /// The steps of the old owner and of the host.
    private func handOver(by step: Step, in state: inout BatonState) {
        switch step {
        case .quiet:
            state.old.phase = .quiet
            if lacks != .stopsFirst { state.old.sends = false }
        case .deposit:
            state.isSealed = true
            state.old.phase = .depositing
            state.old.waited = 0
            state.hostHasMail = state.hostLife != .dead
        case .keep:
            state.hostHasMail = false
            state.hostHasAnswered = true
            state.hostHolds = state.age < Self.lifetime || lacks == .lifetime
        case .heardKept, .keepTimedOut:
            state.old.phase = state.record == .none ? .offering : .released
            if step == .heardKept { state.isAtHost = true }
            if step == .keepTimedOut, lacks == .noBytes { state.storeHasBytes = true }
        case .release: state.owner = 0
        case .offer: offer(in: &state)
        case .see: state.hostView = state.view
        case .forget: state.hostHolds = false
        case .settle:
            state.oldAwaits = false
            if state.record == .failed {
                state.record = .none
                state.old.mustHangUp = true
            }
            // Its own core may have applied it.
            if state.old.phase != .applied, state.old.phase != .active { state.old.holds = false }
        case .expire:
            guard lacks != .expireCommit else {
                state.oldAwaits = false
                state.old.mustHangUp = true
                return
            }
            state.record = .none
            state.oldAwaits = false
            state.old.holds = false
            state.old.mustHangUp = true
        default: break
        }
    }

    private func offer(in state: inout BatonState) {
        let isGuarded = lacks != .offerGuard && lacks != .oneCommit
        guard state.owns(BatonState.oldOwner) || !isGuarded else {
            state.old.phase = .released
            state.old.epoch = 0
            state.old.mustHangUp = lacks != .refusedEnds
            return
        }
        if state.owns(BatonState.oldOwner) { state.owner = 0 }
        state.record = .offered
        state.oldAwaits = true
        state.old.epoch = 0
        state.old.phase = .released
        if lacks == .oldOwnerKeeps { state.old.holds = false }
        if lacks == .depositFirst {
            state.isAtHost = setting.hasHost
            state.isSealed = true
            state.old.phase = .depositing
            state.old.waited = 0
            state.hostHasMail = state.hostLife != .dead
        }
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
            me.holds = true
            me.phase = .prepared
        case .fetchFailed, .refuse:
            me.phase = .failing
            close(&me, number, in: state)
        case .fail:
            guard state.owns(number) else { return lose(&me, number, in: state) }
            if state.record == .offered {
                let isKept = !state.hasOldFailed || state.isAtHost && !state.hasHostFailed
                if isKept, state.age < Self.lifetime {
                    findings.breaks("not lost", "the baton has failed, though one that keeps it runs")
                }
                state.record = .failed
                findings.reaches("failed")
            }
            me.phase = .endingLost
        case .endLost:
            guard state.owns(number) else { return lose(&me, number, in: state) }
            if lacks != .endsLost { endLost(me, in: &state) }
            if state.endings > 0 { findings.reaches("ended as lost") }
            me.phase = .running
        case .apply:
            guard state.owns(number) || lacks == .applyEpochGuard else { return lose(&me, number, in: state) }
            guard state.record == .offered || lacks == .applyRecordGuard else {
                close(&me, number, in: state)
                me.phase = .starting
                return
            }
            if lacks != .applyRemoves { state.record = .none }
            if lacks != .recordMoves { state.callEpoch = me.epoch }
            state.applications += 1
            if !state.owns(number) { findings.breaks("applied once", "the baton was applied in an epoch that is over") }
            if state.endings > 0 { findings.breaks("one end", "the call was applied when its record had ended") }
            if state.isHungUp { findings.breaks("one call", "the call was applied when it was ended over the network") }
            findings.reaches("applied by \(BatonState.names[number])")
            if state.failuresLeft < setting.failures { findings.reaches("applied behind a core that failed") }
            if number != BatonState.oldOwner, state.old.life == .dead {
                findings.reaches("applied when the old owner was dead")
            }
            if me.phase == .prepared { me.phase = .applied }
        case .activate:
            me.phase = .active
            me.sends = true
        case .giveBack:
            state.failuresLeft -= 1
            if state.owns(number) { state.owner = 0 }
            lose(&me, number, in: state)
        case .learn: lose(&me, number, in: state)
        case .hangUp:
            let others = BatonState.participants.filter { $0 != number }
            if others.contains(where: { state[$0].sends || state[$0].phase == .applied }) {
                findings.breaks("one call", "\(BatonState.names[number]) ends over the network what another has")
            }
            me.mustHangUp = false
            me.holds = false
            state.isHungUp = true
        default: break
        }
    }

    /// It does not own any more.
    private func lose(_ me: inout BatonState.Participant, _ number: Int, in state: BatonState) {
        if me.phase == .active || me.phase == .applied { me.mustHangUp = true }
        me.sends = false
        me.epoch = 0
        me.phase = number == BatonState.oldOwner ? .released : .seeking
        if lacks != .takerCloses { close(&me, number, in: state) }
    }

    /// It closes what it got, unless it is a keeper itself.
    private func close(_ me: inout BatonState.Participant, _ number: Int, in state: BatonState) {
        if number != BatonState.oldOwner || !state.oldAwaits { me.holds = false }
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
            (state.hostHolds, state.hostHasMail) = (false, false)
        case .die:
            state.deathsLeft -= 1
            state[number] = BatonState.Participant(life: .dead, phase: .dead)
            if number == BatonState.oldOwner { state.oldAwaits = false }
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
            if number == BatonState.newOwner { state.isAsked = false }
        }
    }

    private func tick(_ state: inout BatonState) {
        if state.isSealed { state.age = min(state.age + 1, Self.lifetime + 1) }
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
        if state.old.life != .running { state.hasOldFailed = true }
        if state.hostLife != .running { state.hasHostFailed = true }
    }
}
