/// Everything that can happen next.
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
        // A request may come at any time, and so may a fault.
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
            // By its own clock. The record decides on the commits that it makes meanwhile.
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

    /// Returns true if a running keeper has the baton, and false if none has. Nil if none answers yes and a frozen one
    /// may have it.
    private func canBeHad(in state: BatonState) -> Bool? {
        let giver = state[Int(state.giver)]
        var keepers = [(giver.life, giver.keeps == state.number)]
        if state.isAtHost { keepers.append((state.hostLife, state.hostHolds == state.number)) }
        if keepers.contains(where: { $0 == (.running, true) }) { return true }
        return keepers.contains { $0.0 == .frozen } ? nil : false
    }

    /// Adds the steps of an owner that was asked, up to the end of its baton.
    private func addStepsToGive(_ number: Int, in state: BatonState, to steps: inout [Step]) {
        let me = state[number]
        switch me.phase {
        case .active where state.asker != 0 && state.owns(number) && state.offersLeft > 0: steps.append(.quiet(number))
        // A participant has one baton at a time: that of an earlier offer, which it has applied itself, is closed
        // first.
        case .quiet where me.awaits == 0 || lacks == .oneAtATime:
            steps.append(lacks == .depositFirst ? .offer(number) : .deposit(number))
        case .depositing:
            if state.hostAnswered == state.sealed { steps.append(.heardKept(number)) }
            let isOver = me.waited >= Self.depositBound && lacks != .depositBound
            if state.hostLife == .dead || isOver { steps.append(.keepTimedOut(number)) }
        case .offering:
            steps.append(lacks == .oneCommit && state.owns(number) ? .release(number) : .offer(number))
        // The participant owns again before the call is lost, if no Main waits.
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
        // By the present state, not by events: the host may see the offer and the application as one change.
        let isNew = view.epoch >= state.senderEpoch || lacks == .hostViewIsNew
        let isOver = isNew && !(view.epoch == state.senderEpoch && view.isOwned)
        let isOffered = view.offered == state.hostHolds && (lacks != .hostKeeps || state.owner == 0)
        let isPast = state.age(of: state.hostHolds) >= Self.lifetime && lacks != .lifetime
        if isOver && !isOffered && lacks != .hostWatches || isPast { steps.append(.forget) }
    }
}
