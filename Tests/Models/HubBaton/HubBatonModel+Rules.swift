/// The rules of the hand-over through a hub.
extension HubBatonModel {
    func check(_ state: HubBatonState, after step: Step, from before: HubBatonState, noting findings: inout Findings) {
        let senders = HubBatonState.participants.filter { state[$0].sends }
        if senders.count > 1 {
            let names = senders.map { HubBatonState.names[$0] }.joined(separator: " and ")
            findings.breaks("one call", "\(names) have it at once")
        }
        if state.applications > 1 { findings.breaks("applied once", "the baton was applied twice") }
        if state.endings > 1 { findings.breaks("one end", "the record of the call has ended twice") }
        if state.hubHas, state.isForged {
            findings.breaks("for the owner", "the hub keeps a baton of a session that does not own")
        }
        if state.owner != 0 {
            let owner = state[Int(state.owner) - 1]
            if owner.phase == .running, owner.epoch == state.epoch, state.isCallOpen, state.callEpoch < state.epoch {
                findings.breaks("one end", "a core runs beside an open call that nothing has")
            }
        }
        if case .activate = step { findings.reaches("goes on") }
        if step == .tick { checkPassing(of: before, to: state, noting: &findings) }
    }

    /// Checks the rules when time passes: each process that can run has done its work.
    private func checkPassing(of before: HubBatonState, to state: HubBatonState, noting findings: inout Findings) {
        for number in HubBatonState.participants {
            let (me, name) = (before[number], HubBatonState.names[number])
            let runs = me.life == .running || me.life == .cutOff
            if runs, me.sends {
                if !before.owns(number) { findings.breaks("one call", "\(name) has it and does not own") }
                if !before.isCallOpen || before.callEpoch != me.epoch {
                    findings.breaks("one end", "\(name) has the call, and its record says otherwise")
                }
                if me.away >= Self.lease { findings.breaks("one call", "\(name) has it past its lease") }
            }
            if runs, [.keeping, .fetching].contains(me.phase), me.waited > Self.bound {
                findings.breaks("bounded", "\(name) waits for the hub past its time")
            }
        }
        guard !before.hubIsFrozen else { return }
        if before.hubHas {
            if before.hubAge > Self.lifetime { findings.breaks("no leak", "the hub has the bytes past their time") }
            let isOwned = before.owner != 0 && before.epoch == 1
            if !isOwned, before.record != .offered { findings.breaks("no leak", "the hub has a baton that is over") }
        }
        if before.record == .offered, before.owner == 0, before.asker == 0, before.age < Self.lifetime,
            before.old.life == .running, before.old.awaits
        {
            findings.breaks("not lost", "the old owner could own again, and lets the call go")
        }
        if state == before { checkRest(state, noting: &findings) }
    }

    /// Checks the rules for a state in which nothing more happens by itself.
    private func checkRest(_ state: HubBatonState, noting findings: inout Findings) {
        let isThere = HubBatonState.participants.map { state[$0].life == .running && !state[$0].isOver }
        let canOwn = HubBatonState.participants.contains {
            isThere[$0] && ![.idle, .released, .gone].contains(state[$0].phase)
        }
        let holder = state.owner == 0 ? nil : state[Int(state.owner) - 1]
        let hasCall = holder.map { $0.sends && state.callEpoch == state.epoch } ?? false
        if canOwn, holder == nil { findings.breaks("bounded", "none owns, though one wants to") }
        if canOwn, state.isCallOpen, !hasCall { findings.breaks("one end", "the call is open, and nothing has it") }
        if !state.isCallOpen, hasCall { findings.breaks("one end", "the call goes on, and its record has ended") }
        if state.record == .offered, canOwn { findings.breaks("bounded", "the baton is still offered") }
        if isThere[0], state.old.awaits { findings.breaks("bounded", "the old owner still waits for its baton's end") }
        if hasCall, state.applications > 0 { findings.reaches("at rest with the call") }
    }
}
