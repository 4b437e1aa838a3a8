/// Everything that can happen next.
extension HubBatonModel {
    func steps(in state: HubBatonState) -> [Step] {
        var steps: [Step] = []
        for number in HubBatonState.participants {
            if state[number].life == .running || state[number].life == .cutOff {
                addSteps(of: number, in: state, to: &steps)
            }
        }
        addStepsOfHub(in: state, to: &steps)
        let isIdle = steps.isEmpty
        if state.owner == 1, state.epoch == 1, state.asker == 0, state.new.phase == .idle, reaches(1, in: state),
            !state.new.isOver,
            state.old.phase == .active
        {
            steps.append(.ask)
        }
        addFaults(in: state, to: &steps)
        if isIdle { steps.append(.tick) }
        return steps
    }

    private func addFaults(in state: HubBatonState, to steps: inout [Step]) {
        for number in HubBatonState.participants {
            let life = state[number].life
            if life == .frozen { steps.append(.thaw(number)) }
            if life == .cutOff { steps.append(.comeBack(number)) }
            if life == .running, state.freezesLeft > 0 { steps.append(.freeze(number)) }
            if life == .running, state.cutsLeft > 0, !isAtFiles(number) { steps.append(.cutOff(number)) }
            if life != .dead, state.deathsLeft > 0 { steps.append(.die(number)) }
        }
        if state.hubIsFrozen { steps.append(.thawHub) } else if state.hubFreezesLeft > 0 { steps.append(.freezeHub) }
        if state.restartsLeft > 0 { steps.append(.restartHub) }
        if state.forgeriesLeft > 0, !state.hubIsFrozen { steps.append(.forge) }
    }

    /// Adds the steps of a participant with a running process.
    private func addSteps(of number: Int, in state: HubBatonState, to steps: inout [Step]) {
        let me = state[number]
        if me.mustHangUp { steps.append(.hangUp(number)) }
        guard me.phase != .gone else { return }
        let canCommit = reaches(number, in: state) && !me.isOver
        if me.isOver, reaches(number, in: state) { return steps.append(.leave(number)) }
        let isInDoubt = me.away >= Self.doubt && lacks != .stopsInDoubt
        if isInDoubt, canCommit, state.owns(number) { steps.append(.renew(number)) }
        if isInDoubt, me.epoch != 0, ![.offered, .stopped].contains(me.phase) {
            steps.append(.stopInDoubt(number))
            if !state.owns(number), canCommit { steps.append(.learn(number)) }
            return
        }
        switch me.phase {
        case .idle, .gone, .active, .running: break
        case .seeking: if canCommit { addStepsToOwn(number, in: state, to: &steps) }
        case .keeping:
            if [.kept, .refused].contains(me.mail), me.life == .running { steps.append(.hearKept) }
            if me.waited >= Self.bound, lacks != .keepBound { steps.append(.keepTimedOut) }
        case .offering: if canCommit { steps.append(.offer) }
        case .releasing: if canCommit { steps.append(.release) }
        case .offered: if reaches(number, in: state) { steps.append(.hearOffer) }
        case .released:
            if canCommit, me.awaits, state.record == .offered, lacks != .ownsAgain {
                addStepsToOwn(number, in: state, to: &steps)
            }
        case .starting: if canCommit { steps.append(.look(number)) }
        case .fetching:
            if [.bytes, .noBytes, .refused].contains(me.mail), me.life == .running {
                steps.append(.hearFetched(number))
            }
            if me.waited >= Self.bound, lacks != .fetchBound { steps.append(.fetchTimedOut(number)) }
        case .prepared: if canCommit { steps.append(.apply(number)) }
        case .failing: if canCommit { steps.append(.fail(number)) }
        case .endingLost: if canCommit { steps.append(.endLost(number)) }
        case .applying: if reaches(number, in: state) { steps.append(.hearApplied(number)) }
        case .applied: steps.append(.activate(number))
        case .stopped: if canCommit, state.owns(number) { steps.append(.giveUp(number)) }
        }
        if number == HubBatonState.oldOwner { addStepsOfOldOwner(in: state, canCommit, to: &steps) }
        if canCommit, me.epoch != 0, !state.owns(number), me.phase != .offered, lacks != .learnsOfIt {
            steps.append(.learn(number))
        }
    }

    private func addStepsOfOldOwner(in state: HubBatonState, _ canCommit: Bool, to steps: inout [Step]) {
        let me = state.old
        if me.phase == .active, me.epoch == 1, state.asker != 0, state.owns(0), canCommit { steps.append(.quiet) }
        guard me.awaits, me.phase != .offered else { return }
        let isOffered = state.record == .offered
        let isPast = state.age >= Self.lifetime
        if canCommit, !isOffered, lacks != .oldOwnerWatches { steps.append(.settle) }
        if isOffered, isPast, !state.owns(0), canCommit || lacks == .expireCommit { steps.append(.expire) }
    }

    private func addStepsToOwn(_ number: Int, in state: HubBatonState, to steps: inout [Step]) {
        if state.asker != 0, state.asker != number + 1 {
            if isSilent(Int(state.asker) - 1, in: state) { steps.append(.removeRequest(number)) }
        } else if state.owner == 0 {
            steps.append(.acquire(number))
        } else if isSilent(Int(state.owner) - 1, in: state) {
            steps.append(.supersede(number))
        }
    }

    private func isSilent(_ number: Int, in state: HubBatonState) -> Bool {
        state[number].life != .dead && state[number].away >= Self.lease
    }

    private func addStepsOfHub(in state: HubBatonState, to steps: inout [Step]) {
        guard !state.hubIsFrozen else { return }
        for number in HubBatonState.participants {
            let me = state[number]
            let isGone = me.life == .dead || me.away >= Self.lease && !isAtFiles(number)
            if isGone, !me.isOver { steps.append(.reap(number)) }
            // The request of a participant that was cut off does not arrive; that of a dead or frozen one may.
            guard me.life != .cutOff, !me.isOver else { continue }
            if me.mail == .keep { steps.append(.keep) }
            if me.mail == .fetch { steps.append(.fetch(number)) }
            // A commit may be under way when its participant freezes, or is in doubt.
            guard me.life == .frozen || me.life == .running && me.away >= Self.doubt, !isAtFiles(number) else {
                continue
            }
            if me.phase == .offering { steps.append(.offer) }
            if me.phase == .prepared { steps.append(.apply(number)) }
        }
        if state.hubView != state.view { steps.append(.see) }
        guard state.hubHas else { return }
        let view = state.hubView
        let isOver = !(view.owner != 0 && view.epoch == 1) && !view.isOffered && lacks != .endsByState
        let isPast =
            lacks == .ownTime ? state.age >= Self.lifetime : state.hubAge > Self.lifetime && lacks != .endsByTime
        let isAcquired = lacks == .untilOver && view.owner != 0 && view.epoch > 1
        if isOver || isPast || isAcquired { steps.append(.letGo) }
    }
}
