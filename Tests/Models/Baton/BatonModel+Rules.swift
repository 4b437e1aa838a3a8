/// The rules of the hand-over.
extension BatonModel {
    func check(_ state: BatonState, after step: Step, from before: BatonState, noting findings: inout Findings) {
        let senders = BatonState.participants.filter { state[$0].sends }
        if senders.count > 1 {
            let names = senders.map { BatonState.names[$0] }.joined(separator: " and ")
            findings.breaks("one call", "\(names) have it at once")
        }
        if state.wasAppliedTwice { findings.breaks("applied once", "the baton was applied twice") }
        if state.endings > 1 { findings.breaks("one end", "the record of the call has ended twice") }
        if state.storeHasBytes { findings.breaks("no secrets", "bytes of the baton stand in the store") }
        if state.owner != 0 {
            let owner = state[Int(state.owner) - 1]
            if owner.phase == .running, owner.epoch == state.epoch, state.isCallOpen, state.callEpoch < state.epoch {
                findings.breaks("one end", "a core runs beside an open call that nothing has")
            }
        }
        checkKeepers(state, noting: &findings)
        if case .expire(let number) = step {
            if before.age(of: before.number) < Self.lifetime { findings.breaks("not lost", "expired before its time") }
            if before.number == before[number].awaits { findings.reaches("expired") }
        }
        if case .activate = step { findings.reaches("goes on") }
        if step == .tick { checkPassing(of: before, to: state, noting: &findings) }
    }

    /// Checks that each keeper in the record of an offered baton keeps it as long as the keeper runs.
    private func checkKeepers(_ state: BatonState, noting findings: inout Findings) {
        guard state.record == .offered, state.age(of: state.number) < Self.lifetime else { return }
        if !state.hasGiverFailed, state[Int(state.giver)].keeps != state.number {
            findings.breaks(
                "not lost", "\(BatonState.names[Int(state.giver)]) does not have the baton that it has offered")
        }
        if state.isAtHost, !state.hasHostFailed, state.hostHolds != state.number {
            findings.breaks("not lost", "the host does not have the baton that the record says it keeps")
        }
    }

    /// Checks the rules when time passes: each process that can run has done its work.
    private func checkPassing(of before: BatonState, to state: BatonState, noting findings: inout Findings) {
        for number in BatonState.participants where before[number].life == .running {
            let (me, name) = (before[number], BatonState.names[number])
            if me.sends {
                if !before.owns(number) { findings.breaks("one call", "\(name) has it and does not own") }
                if !before.isCallOpen || before.callEpoch != me.epoch {
                    findings.breaks("one end", "\(name) has the call, and its record says otherwise")
                }
            }
            if me.phase == .fetching, me.waited > Self.fetchBound {
                findings.breaks("bounded", "\(name) waits for the baton past its time")
            }
            if me.phase == .depositing, me.waited > Self.depositBound {
                findings.breaks("bounded", "\(name) waits for the host past its time")
            }
            let duplicates = [me.sends ? 0 : me.holds, me.keeps].filter { $0 > 0 }
            if duplicates.contains(where: { before.age(of: $0) >= Self.lifetime }) {
                findings.breaks("no leak", "\(name) has the descriptors past the lifetime")
            }
            if duplicates.contains(where: { $0 <= before.applied }) {
                findings.breaks("no leak", "\(name) has the descriptors of a baton that was applied")
            }
        }
        if before.hostLife == .running, before.hostHolds > 0 {
            if before.age(of: before.hostHolds) >= Self.lifetime {
                findings.breaks("no leak", "the host has the descriptors past the lifetime")
            }
            if before.hostHolds <= before.applied {
                findings.breaks("no leak", "the host has the descriptors of a baton that was applied")
            }
        }
        if before.record == .offered, before.owner == 0, before.asker == 0, before.age < Self.lifetime,
            before[Int(before.giver)].life == .running
        {
            findings.breaks("not lost", "\(BatonState.names[Int(before.giver)]) could own again, and lets the call go")
        }
        if state == before { checkRest(state, noting: &findings) }
    }

    /// Checks the rules for a state in which nothing more happens by itself.
    private func checkRest(_ state: BatonState, noting findings: inout Findings) {
        let runs = BatonState.participants.map { state[$0].life == .running }
        let canOwn = BatonState.participants.contains {
            runs[$0] && ![.idle, .released, .dead].contains(state[$0].phase)
        }
        let holder = state.owner == 0 ? nil : state[Int(state.owner) - 1]
        let hasCall = holder.map { $0.sends && state.callEpoch == state.epoch } ?? false
        if canOwn, holder == nil { findings.breaks("bounded", "none owns, though one wants to") }
        if canOwn, state.isCallOpen, !hasCall { findings.breaks("one end", "the call is open, and nothing has it") }
        if !state.isCallOpen, hasCall { findings.breaks("one end", "the call goes on, and its record has ended") }
        if state.record == .offered, runs[Int(state.giver)] || canOwn {
            findings.breaks("bounded", "the baton is still offered, and nothing will come of it")
        }
        for number in BatonState.participants where runs[number] && state[number].awaits != 0 {
            findings.breaks("bounded", "\(BatonState.names[number]) still waits for what became of its baton")
        }
        if hasCall, runs.allSatisfy({ $0 }), state.applied > 0 { findings.reaches("at rest with the call") }
    }
}
