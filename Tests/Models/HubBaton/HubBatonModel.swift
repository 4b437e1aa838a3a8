/// The hand-over of a call by a baton through a hub (decision 46).
///
/// There are an old owner, a new one, a third that wants to own, and the hub that keeps the bytes. A participant may
/// die, freeze and thaw, and be cut off and come back. The hub may be stopped, and be started anew.
///
/// A commit is one step, with its guards. A participant's read, its commit and the answer to it are separate steps, and
/// so are the ways to the hub and back. Time passes in ticks, and only when each process that can run has done all that
/// it would do now.
struct HubBatonModel: Model {
    typealias State = HubBatonState

    /// A step of the model: an event, or an action of a participant or the hub.
    enum Step: Hashable {
        case ask, quiet
        case keep, forge, hearKept, keepTimedOut
        case offer, hearOffer, release
        case acquire(Int), supersede(Int), removeRequest(Int)
        case look(Int), fetch(Int), hearFetched(Int), fetchTimedOut(Int), fail(Int), endLost(Int)
        case apply(Int), hearApplied(Int), activate(Int)
        case see, letGo
        case settle, expire
        case learn(Int), stopInDoubt(Int), renew(Int), giveUp(Int), hangUp(Int), leave(Int)
        case die(Int), freeze(Int), thaw(Int), cutOff(Int), comeBack(Int), reap(Int)
        case freezeHub, thawHub, restartHub
        case tick
    }

    /// How long a baton lives, and how long the waits are, in ticks.
    static let lifetime: UInt8 = 3
    static let bound: UInt8 = 1
    /// A lease, and the time after which a core that is cut off stops.
    static let lease: UInt8 = 3
    static let doubt: UInt8 = 2

    let setting: HubBatonSetting
    /// The protection that is left out.
    var lacks: HubBatonMutation?

    var initial: HubBatonState {
        HubBatonState(
            third: HubBatonState.Participant(phase: .seeking), deathsLeft: setting.deaths,
            freezesLeft: setting.freezes, cutsLeft: setting.cuts, restartsLeft: setting.restarts,
            hubFreezesLeft: setting.hubFreezes, forgeriesLeft: setting.forgeries)
    }

    /// Returns true if a participant reaches the group now: through the hub, or at its files.
    func reaches(_ number: Int, in state: HubBatonState) -> Bool {
        state[number].life == .running && (!state.hubIsFrozen || isAtFiles(number))
    }

    func isAtFiles(_ number: Int) -> Bool { number == 2 && setting.thirdIsAtFiles }

    func isOlder(_ number: Int) -> Bool { number == 2 && setting.thirdIsOlder }
}

/// The outcome of each step.
extension HubBatonModel {
    func take(_ step: Step, in state: inout HubBatonState, noting findings: inout Findings) {
        let before = state
        switch step {
        case .ask:
            state.asker = UInt8(HubBatonState.newOwner + 1)
            state.new.phase = .seeking
        case .acquire(let number), .supersede(let number):
            state.epoch += 1
            state.owner = UInt8(number + 1)
            if state.asker == number + 1 { state.asker = 0 }
            state[number].phase = .starting
            state[number].epoch = state.epoch
        case .removeRequest: state.asker = 0
        case .quiet, .hearKept, .keepTimedOut, .offer, .hearOffer, .release, .settle, .expire:
            give(by: step, in: &state, noting: &findings)
        case .keep, .forge, .see, .letGo, .freezeHub, .thawHub, .restartHub, .fetch:
            serve(step, in: &state, noting: &findings)
        case .die(let number), .freeze(let number), .thaw(let number), .cutOff(let number), .comeBack(let number),
            .reap(let number):
            befall(number, step, in: &state)
        case .tick: tick(&state)
        case .look(let number), .hearFetched(let number), .fetchTimedOut(let number), .fail(let number),
            .endLost(let number), .apply(let number), .hearApplied(let number), .activate(let number),
            .learn(let number), .stopInDoubt(let number), .renew(let number), .giveUp(let number),
            .hangUp(let number), .leave(let number):
            advance(number, by: step, in: &state, noting: &findings)
        }
        // A commit through the hub is the hub's own step.
        if !state.hubIsFrozen, before.view != state.view, !isAtFiles(actor(of: step)) { state.hubView = state.view }
        state.forget()
        noteFaults(behind: before, by: step, noting: &findings)
        check(state, after: step, from: before, noting: &findings)
    }

    /// Returns the participant that takes a step; the old owner for steps that only one participant can take.
    private func actor(of step: Step) -> Int {
        switch step {
        case .acquire(let number), .supersede(let number), .removeRequest(let number), .fail(let number),
            .apply(let number):
            number
        default: 0
        }
    }

    private func noteFaults(behind before: HubBatonState, by step: Step, noting findings: inout Findings) {
        let fault: String? =
            switch step {
            case .die: "a death"
            case .freeze: "a freeze"
            case .cutOff: "a cut"
            case .freezeHub: "a stop of the hub"
            case .restartHub: "a new hub"
            default: nil
            }
        if let fault { findings.reaches("\(fault) behind step \(before.stage)") }
    }

    /// The steps of the participant that gives the baton.
    private func give(by step: Step, in state: inout HubBatonState, noting findings: inout Findings) {
        var me = state.old
        defer { state.old = me }
        switch step {
        case .quiet:
            (me.phase, me.sends, me.mail, me.waited, me.hasBytes) = (.keeping, false, .keep, 0, true)
            state.age = 0
            if lacks == .waitsForHub { me.phase = .offering }
        case .hearKept:
            me.phase = me.mail == .kept ? .offering : .releasing
            me.mail = .none
        case .keepTimedOut: me.phase = .releasing
        case .offer:
            guard state.owns(0) || lacks == .offerGuard else { return lose(&me, 0) }
            if state.owns(0) { state.owner = 0 }
            state.record = .offered
            (me.phase, me.awaits) = (.offered, true)
            // A participant sends its requests one after the other.
            me.mail = .none
        case .hearOffer:
            (me.phase, me.epoch) = (.released, 0)
        case .release:
            guard state.owns(0) else { return lose(&me, 0) }
            state.owner = 0
            (me.phase, me.epoch, me.mustHangUp, me.hasBytes) = (.released, 0, true, false)
            findings.reaches("refused by the hub")
        case .settle:
            if state.record == .failed {
                state.record = .none
                me.mustHangUp = true
            }
            (me.awaits, me.hasBytes) = (false, me.phase == .released ? false : me.hasBytes)
        default:
            if lacks != .expireCommit { state.record = .none }
            (me.awaits, me.hasBytes, me.mustHangUp) = (false, false, true)
            findings.reaches("expired")
        }
    }

    /// The steps of the hub.
    private func serve(_ step: Step, in state: inout HubBatonState, noting findings: inout Findings) {
        if case .keep = step, lacks != .refreshes { refresh(&state) }
        if case .fetch = step, lacks != .refreshes { refresh(&state) }
        switch step {
        case .keep:
            let owns = state.hubView.owner == 1 && state.hubView.epoch == 1
            guard owns || lacks == .keepGuard else { return state.old.mail = .refused }
            if state.owner != 1 || state.epoch != 1 {
                findings.breaks("for the owner", "the hub keeps a baton of one that does not own")
            }
            if !state.hubHas {
                (state.hubHas, state.hubAge, state.hasHubRestarted, state.isForged) = (true, 0, false, false)
            }
            state.old.mail = .kept
        case .forge:
            state.forgeriesLeft -= 1
            guard lacks == .keepGuard, !state.hubHas else { return }
            (state.hubHas, state.hubAge, state.isForged) = (true, 0, true)
        case .fetch(let number):
            let view = state.hubView
            let mayHave = view.owner == number + 1 && view.epoch == state[number].epoch && view.isOffered
            guard mayHave || lacks == .fetchGuard else { return state[number].mail = .refused }
            state[number].mail = state.hubHas ? .bytes : .noBytes
            if state.hubHas, !state.owns(number) || state.record != .offered {
                findings.breaks("for the owner", "\(HubBatonState.names[number]) is given a baton that is not its own")
            }
            let isInTime = state.hubAge <= Self.lifetime && !state.hasHubRestarted
            if !state.hubHas, mayHave, state.view == view, isInTime {
                findings.breaks("not lost", "the hub has let go of a baton that is offered")
            }
        case .see: refresh(&state)
        case .letGo: state.hubHas = false
        case .freezeHub:
            state.hubFreezesLeft -= 1
            state.hubIsFrozen = true
        case .thawHub: state.hubIsFrozen = false
        default:
            state.restartsLeft -= 1
            if state.hubHas { state.hasHubRestarted = true }
            state.hubHas = false
            refresh(&state)
            // Answers that are under way are lost, and their requests sent again.
            for number in HubBatonState.participants {
                switch state[number].mail {
                case .kept: state[number].mail = .keep
                case .bytes, .noBytes: state[number].mail = .fetch
                case .refused: state[number].mail = state[number].phase == .keeping ? .keep : .fetch
                case .none, .keep, .fetch: break
                }
            }
        }
    }

    private func refresh(_ state: inout HubBatonState) { state.hubView = state.view }

    /// Performs the steps of a participant that owns, or believes that it owns.
    private func advance(
        _ number: Int, by step: Step, in state: inout HubBatonState, noting findings: inout Findings
    ) {
        var me = state[number]
        defer { state[number] = me }
        switch step {
        case .look:
            // An older version does not know the record, and ends all calls.
            guard state.record == .offered, !isOlder(number) else { return me.phase = .endingLost }
            if isAtFiles(number) { return me.phase = .failing }
            if me.hasBytes { return me.phase = .prepared }
            (me.phase, me.waited, me.mail) = (.fetching, 0, .fetch)
        case .hearFetched:
            me.hasBytes = me.mail == .bytes
            me.phase = me.hasBytes ? .prepared : .failing
            me.sends = me.hasBytes && lacks == .hearsFirst
            me.mail = .none
        case .fetchTimedOut: (me.phase, me.mail) = (.failing, .none)
        case .fail:
            guard state.owns(number) else { return lose(&me, number) }
            if state.record == .offered {
                state.record = .failed
                findings.reaches("failed")
            }
            me.phase = .endingLost
        case .endLost:
            guard state.owns(number) else { return lose(&me, number) }
            if state.isCallOpen, state.callEpoch < me.epoch, lacks != .endsLost {
                state.isCallOpen = false
                state.endings += 1
                findings.reaches("ended as lost")
                if state.record == .offered { findings.reaches("an older owner ended the call of a baton") }
            }
            me.phase = .running
        case .apply:
            guard state.owns(number) || lacks == .applyEpochGuard else { return lose(&me, number) }
            guard state.record == .offered || lacks == .applyRecordGuard else {
                (me.phase, me.hasBytes) = (.starting, false)
                return
            }
            guard state.isCallOpen || lacks == .openCalls else {
                findings.reaches("a baton without an open call")
                return me.phase = .failing
            }
            state.record = .none
            state.callEpoch = me.epoch
            state.applications += 1
            if !state.owns(number) { findings.breaks("applied once", "the baton was applied in an epoch that is over") }
            if state.endings > 0 { findings.breaks("one end", "the call was applied when its record had ended") }
            if state.isHungUp { findings.breaks("one call", "the call was applied when it was ended over the network") }
            findings.reaches("applied by \(HubBatonState.names[number])")
            me.phase = .applying
        case .hearApplied: me.phase = .applied
        case .activate: (me.phase, me.sends) = (.active, true)
        case .learn: lose(&me, number)
        case .stopInDoubt:
            if me.sends || [.keeping, .offering, .releasing, .applied].contains(me.phase) { me.mustHangUp = true }
            (me.phase, me.sends, me.mail) = (.stopped, false, .none)
            if !me.awaits { me.hasBytes = false }
            findings.reaches("stopped when it was cut off")
        case .renew: me.away = 0
        case .giveUp:
            if state.owns(number) { state.owner = 0 }
            (me.phase, me.epoch) = (number == HubBatonState.oldOwner ? .released : .seeking, 0)
        case .hangUp:
            let others = HubBatonState.participants.filter { $0 != number }
            if others.contains(where: { state[$0].sends || [.applying, .applied].contains(state[$0].phase) }) {
                findings.breaks("one call", "\(HubBatonState.names[number]) ends over the network what another has")
            }
            me.mustHangUp = false
            state.isHungUp = true
        default:
            // The session has ended: the core learns that the outcome of its baton is unknown.
            if me.awaits {
                findings.reaches("unknown")
                if lacks == .unknownIsQuiet { me.mustHangUp = true }
            }
            if me.sends || [.keeping, .offering, .releasing, .applied].contains(me.phase) { me.mustHangUp = true }
            (me.phase, me.sends, me.awaits, me.hasBytes, me.epoch) = (.gone, false, false, false, 0)
        }
    }

    /// Ends the ownership of a participant.
    private func lose(_ me: inout HubBatonState.Participant, _ number: Int) {
        if me.sends || [.keeping, .offering, .releasing, .applied].contains(me.phase) { me.mustHangUp = true }
        (me.sends, me.epoch, me.mail, me.hasBytes) = (false, 0, .none, me.awaits ? me.hasBytes : false)
        me.phase = number == HubBatonState.oldOwner ? .released : .seeking
    }

    private func befall(_ number: Int, _ step: Step, in state: inout HubBatonState) {
        switch step {
        case .die:
            state.deathsLeft -= 1
            let (mail, isOver) = (state[number].mail, state[number].isOver)
            state[number] = HubBatonState.Participant(life: .dead, isOver: isOver, phase: .gone)
            // A request that it has sent may still arrive.
            if [.keep, .fetch].contains(mail) { state[number].mail = mail }
        case .freeze:
            state.freezesLeft -= 1
            state[number].life = .frozen
        case .cutOff:
            state.cutsLeft -= 1
            state[number].life = .cutOff
        case .thaw, .comeBack:
            state[number].life = .running
        default:
            state[number].isOver = true
            if Int(state.owner) == number + 1 { state.owner = 0 }
            if state.asker == number + 1 { state.asker = 0 }
        }
    }

    private func tick(_ state: inout HubBatonState) {
        state.age = min(state.age + 1, Self.lifetime)
        // The store forgets a record that no participant ends.
        if setting.thirdIsOlder, state.old.isOver, !state.hubHas, state.record == .offered {
            state.record = .none
        }
        if state.hubHas, !state.hubIsFrozen { state.hubAge = min(state.hubAge + 1, Self.lifetime + 1) }
        for number in HubBatonState.participants {
            let isAway = state[number].life != .running || state.hubIsFrozen && !isAtFiles(number)
            state[number].away = isAway ? min(state[number].away + 1, Self.lease) : 0
            switch state[number].phase {
            case .fetching, .keeping: state[number].waited = min(state[number].waited + 1, Self.bound + 1)
            default: state[number].waited = 0
            }
        }
    }
}
