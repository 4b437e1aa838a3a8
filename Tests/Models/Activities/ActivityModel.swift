/// How many faults of each kind there are, and which third participant.
struct ActivitySetting: Sendable {
    let name: String
    var third = ActivityState.Party.secondExecutor
    /// How many activities a core may have at once.
    var activities: UInt8 = 1
    var deaths: UInt8 = 0
    var freezes: UInt8 = 0
    /// How many cores do not stop.
    var hangs: UInt8 = 0
    /// True to fence an owner that does not release, false to kill it.
    var fences = false
    /// True if the owner's clock is so far behind that no bound passes by it.
    var isClockBehind = false
    /// The landmarks that the design has to reach in this setting.
    var landmarks: [String] = []
    /// True for a setting with so many states that only `make at-length` visits them.
    var isLong = false
}

/// Section 2 of the design of decision 36: work in progress keeps a core, for as long as its bound, and for an owner
/// that answers.
///
/// As in ``RestingModel``, each participant reads the store, decides on a commit and makes it. These are steps between
/// which everything else may happen. A commit takes effect if no entry that it relies on has changed. A commit that
/// has become void is forgotten at once: it would do nothing. A commit that relies on all entries behind its decision
/// is one step: to decide earlier would change nothing.
///
/// A core makes calls independently of its participant, which learns of begun activities by a read of its own. A tick
/// passes when each participant that can run has done all that it would do now.
struct ActivityModel: Model {
    typealias State = ActivityState
    typealias Step = ActivityStep
    typealias Party = ActivityState.Party

    /// For how many ticks an owner may leave a challenge unanswered (500 ms).
    static let answerBound: UInt8 = 2
    /// The ticks that an owner that was asked may take (500 ms).
    static let handoverBound: UInt8 = 2
    /// The ticks that a core may take to stop (5 s): more than an owner may take, so that the two can be distinguished.
    static let stopBound: UInt8 = 3
    /// The bounds of the two activities: longer than a frozen owner may be waited for, and shorter.
    static let bound: UInt8 = 4
    static let secondBound: UInt8 = 2
    /// For how many ticks a frozen owner may be waited for.
    static let frozenBound: UInt8 = 5
    /// The number of its ticks that a Main's request may last: the longest bound, the deadline and the time to stop.
    static let requestBound: UInt8 = bound + handoverBound + stopBound

    let setting: ActivitySetting
    var mutation: ActivityMutation?

    var parties: [Party] { [.main, .executor, setting.third] }

    var initial: ActivityState {
        ActivityState(deathsLeft: setting.deaths, freezesLeft: setting.freezes, hangsLeft: setting.hangs)
    }

    func lacks(_ mutation: ActivityMutation) -> Bool { self.mutation == mutation }

    // MARK: - Possible steps

    func steps(in state: ActivityState) -> [ActivityStep] {
        var steps: [ActivityStep] = []
        for party in parties { addNext(of: party, in: state, to: &steps) }
        let isDone = steps.isEmpty
        for party in parties { addEvents(of: party, in: state, to: &steps) }
        if let owner = state.owner, state[owner].canRun, state[owner].core == .running, isAwaited(in: state) {
            steps.append(.serve)
        }
        // The death of a process is noticed at once where any other can run.
        let isUnnoticed = parties.contains { state[$0].life == .dead } && parties.contains { state[$0].canRun }
        if isDone, !isUnnoticed { steps.append(.tick) }
        return steps
    }

    private func addEvents(of party: Party, in state: ActivityState, to steps: inout [ActivityStep]) {
        let participant = state[party]
        switch participant.life {
        case .running:
            // While both are away, the two Executors are equivalent.
            let isOther = party == .secondExecutor && state.executor == ActivityState.Participant()
            if participant.phase == .away, !isOther { steps.append(party.isMain ? .start(party) : .push(party)) }
            if party.isMain, participant.wants {
                if participant.phase == .seeking, !participant.insists { steps.append(.insist(party)) }
                if participant.phase == .owning { steps.append(.end(party)) }
            }
            if participant.core == .stopping, state.hangsLeft > 0 { steps.append(.hang(party)) }
            addCalls(of: party, in: state, to: &steps)
            guard participant.phase != .away || participant.core != .none else { break }
            if state.freezesLeft > 0 { steps.append(.freeze(party)) }
            if state.deathsLeft > 0 { steps.append(.die(party)) }
        case .frozen:
            steps.append(.thaw(party))
            if state.deathsLeft > 0 { steps.append(.die(party)) }
            if lacks(.answersForOwner), state.owner == party, state.open != 0, state.challenge == .open {
                steps.append(.commit(party, .answer))
            }
        case .dead: steps.append(.reap(party))
        }
    }

    private func addCalls(of party: Party, in state: ActivityState, to steps: inout [ActivityStep]) {
        let participant = state[party]
        guard participant.call == nil, participant.core == .running || participant.core == .stopping,
            state.owner == party || lacks(.beginUnderFormerEpoch)
        else { return }
        let calls: [(work: UInt8, begin: ActivityState.Call, end: ActivityState.Call)] = [
            (1, .begin, .end), (2, .beginSecond, .endSecond),
        ]
        for (work, begin, end) in calls {
            guard work <= setting.activities else { continue }
            if participant.works & work != 0 {
                steps.append(.commitCall(party, end))
                if work == 1, lacks(.renewedBound), state.request != .none { steps.append(.renew(party)) }
            } else if participant.core == .running || lacks(.openGate),
                state.request == .none || lacks(.beginPastRequest)
            {
                steps.append(.call(party, begin))
            }
        }
    }

    /// Returns true if a call of an Executor waits for its message.
    func isAwaited(in state: ActivityState) -> Bool { parties.contains { !$0.isMain && state[$0].wants } }

    // MARK: - The next step of a participant

    private func addNext(of party: Party, in state: ActivityState, to steps: inout [ActivityStep]) {
        let participant = state[party]
        guard participant.canRun else { return }
        if let call = participant.call { steps.append(.commitCall(party, call)) }
        if let pending = participant.pending { return steps.append(.commit(party, pending)) }
        switch participant.phase {
        case .away: break
        case .seeking:
            guard participant.wants else { return steps.append(.leave(party)) }
            if let step = seek(party, in: state) { steps.append(step) }
        case .owning: addNext(ofOwner: party, in: state, to: &steps)
        }
    }

    private func addNext(ofOwner party: Party, in state: ActivityState, to steps: inout [ActivityStep]) {
        let participant = state[party]
        guard state.owner == party else { return steps.append(lost(party, in: state)) }
        let hasSeen =
            participant.seenOpen == state.open && !participant.hasBegunUnseen
            && participant.seenRequest == request(to: party, in: state)
        if !hasSeen { steps.append(.look(party)) }
        if state.challenge == .open { return steps.append(.commit(party, .answer)) }
        switch participant.core {
        case .none:
            let isToStop = participant.reason != nil || reasonToStop(party, in: state) != nil
            steps.append(isToStop ? .commit(party, .release) : .startCore(party))
        case .running: if let reason = reasonToStop(party, in: state) { steps.append(.stop(party, reason)) }
        case .stopping:
            if !state.isStopping { steps.append(.commit(party, .publish)) }
            steps.append(.stopped(party))
        case .stuck:
            if !state.isStopping { return steps.append(.commit(party, .publish)) }
            // A waiting Main kills it: an ended core is better than one that may still run.
            let isKilled = !setting.fences && !party.isMain && participant.seenRequest != .none
            if participant.stopped >= Self.stopBound, !isKilled { steps.append(.commit(party, .giveUp)) }
        }
    }

    private func lost(_ party: Party, in state: ActivityState) -> ActivityStep {
        let participant = state[party]
        return switch participant.core {
        case .none: participant.wants ? .seek(party) : .leave(party)
        case .running: .stop(party, .superseded)
        case .stopping: .stopped(party)
        case .stuck: .abandon(party)
        }
    }

    /// The request that an owner obeys; a Main obeys that of a Main that takes over.
    func request(to owner: Party, in state: ActivityState) -> ActivityState.Request {
        guard let author = state.author, author != owner, asks(author, owner) else { return .none }
        return state.request
    }

    private func reasonToStop(_ party: Party, in state: ActivityState) -> ActivityState.Reason? {
        let participant = state[party]
        if party.isMain {
            if !participant.wants { return .closing }
        } else if !isAwaited(in: state) {
            let isBeginning =
                participant.call == .begin || participant.call == .beginSecond || participant.hasBegunUnseen
            if !isBeginning || lacks(.noGate) {
                if participant.seenOpen == 0 || lacks(.policyStops) { return .served }
                if !isWithinBound(participant.seenOpen, in: state), !lacks(.policyWithoutBound) { return .bound }
            }
        }
        switch participant.seenRequest {
        case .none: return nil
        case .insisting where !lacks(.insistIgnored): return .insisted
        case .insisting, .patient: break
        }
        if participant.seenOpen == 0 || lacks(.handoverInActivity) { return .handover }
        guard !isWithinBound(participant.seenOpen, in: state), !lacks(.ownerWithoutBound) else { return nil }
        return lacks(.untoldBound) ? .handover : .bound
    }

    /// Returns true if an activity keeps the core, by the owner's clock.
    private func isWithinBound(_ open: UInt8, in state: ActivityState) -> Bool {
        if setting.isClockBehind { return open != 0 }
        let (first, second) = (open & 1 != 0, open & 2 != 0)
        let isFirstOpen = first && state.age < Self.bound
        let isSecondOpen = second && state.secondAge < Self.secondBound
        if lacks(.firstBound), first, second { return isFirstOpen && isSecondOpen }
        return isFirstOpen || isSecondOpen
    }

    /// Returns the recorded activities that are within their bounds.
    func openWithinBound(in state: ActivityState) -> UInt8 {
        state.open & ((state.age < Self.bound ? 1 : 0) | (state.secondAge < Self.secondBound ? 2 : 0))
    }

    // MARK: - Waiting for ownership

    private func seek(_ party: Party, in state: ActivityState) -> ActivityStep? {
        let myself = state[party]
        if lacks(.acquirePastRequest), state.owner == nil, !party.isMain { return .commit(party, .acquire) }
        if let author = state.author, author != party { return wait(party, behind: author, in: state) }
        guard let owner = state.owner else { return .commit(party, .acquire) }
        if asks(party, owner) {
            return state.request == .none ? .commit(party, .ask) : awaitHandover(party, of: owner, in: state)
        }
        if lacks(.executorWaits), state.open != 0 { return nil }
        switch state.challenge {
        case .none: return .commit(party, .challenge)
        case .answered: return party.isMain ? .refused(party) : nil
        case .open: return myself.silence >= Self.answerBound ? .commit(party, .supersede) : nil
        }
    }

    private func wait(_ party: Party, behind author: Party, in state: ActivityState) -> ActivityStep? {
        let isPatient = state.request == .patient && !state.isKilling && !state.isStopping && state.open != 0
        if party == .secondMain, state[party].insists, isPatient, state.owner != nil, !lacks(.noReplacement) {
            return .decide(party, .replace)
        }
        if state[party].silence >= Self.answerBound { return .commit(party, .removeRequest) }
        return party == .main && state[author].canRun ? .refused(party) : nil
    }

    private func asks(_ party: Party, _ owner: Party) -> Bool { party == .secondMain || party.isMain && !owner.isMain }

    private func awaitHandover(_ party: Party, of owner: Party, in state: ActivityState) -> ActivityStep? {
        let myself = state[party]
        if state.isKilling { return .kill(party) }
        if isBusy(for: party, in: state), myself.insists, !lacks(.insistOnlyAtFirst) { return .commit(party, .insist) }
        if isBusy(for: party, in: state) {
            return lacks(.noChallenge) ? nil : awaitAnswer(party, of: owner, in: state)
        }
        if state.isStopping, !lacks(.stopBoundIgnored) {
            if myself.waitedStopping < Self.stopBound { return awaitAnswer(party, of: owner, in: state) }
        } else {
            let waited = lacks(.deadlineFromRequest) ? myself.waited : myself.waitedIdle
            if waited < Self.handoverBound { return nil }
        }
        return .commit(party, isKilled(owner) ? .announce : .fence)
    }

    /// Returns true while the Main waits for activities: up to their bound, in its own running time.
    func isBusy(for party: Party, in state: ActivityState) -> Bool {
        guard state.request == .patient, !state.isStopping, state.open != 0 else { return false }
        let bound = state.open & 1 != 0 ? Self.bound : Self.secondBound
        return state[party].waited < bound || lacks(.mainWithoutBound)
    }

    private func isKilled(_ owner: Party) -> Bool { !setting.fences && !owner.isMain }

    /// Challenges the owner while it has its time; one that does not answer has no more than one that is not busy.
    private func awaitAnswer(_ party: Party, of owner: Party, in state: ActivityState) -> ActivityStep? {
        let myself = state[party]
        guard myself.waited >= Self.handoverBound / 2 else { return nil }
        if state.challenge == .none { return .commit(party, .challenge) }
        guard state.challenge == .open, myself.silence >= Self.answerBound, myself.waited >= Self.handoverBound else {
            return nil
        }
        return .decide(party, isKilled(owner) ? .announceSilent : .fenceSilent)
    }
}
