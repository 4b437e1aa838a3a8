internal import CoreAPI
internal import Lifecycle

/// The actions that are carried out, and the state when nothing is left to be done.
extension ConnectivityValidator {
    /// Validates that an action is carried out now.
    mutating func carriedOut(
        _ ordered: OrderedAction, _ outcome: ConnectivityMachine.Outcome, at position: LifecyclePosition
    ) {
        require(ordered.number > lastDone, "P2: actions in their order, each once", ordered)
        require(!dropped.contains(ordered.number), "P2: nothing that was dropped", ordered)
        lastDone = max(lastDone, ordered.number)
        let isDone = if case .done = outcome { true } else { false }
        noteOwnership(ordered, outcome, at: position)
        switch ordered.action {
        case .restorePresence, .restoreHTTP:
            require(position == .foregroundConnected, "P1: presence and HTTP in the foreground only", ordered)
            if ordered.action == .restoreHTTP { isHTTPRestored = isDone } else { isPresenceRestored = isDone }
        case .reconnect:
            require(position.connectivity == .connected, "P2: nobody connects without a network", ordered)
            if isDone { (isSubscribed, hasFailedToSubscribe, isConnectionGone) = (false, false, false) }
        case .openNewSocket:
            if isDone { (isSubscribed, hasFailedToSubscribe, isConnectionGone) = (false, false, false) }
        case .subscribe: (isSubscribed, hasFailedToSubscribe) = (isDone, !isDone)
        case .refreshSubscriptions:
            require(isSubscribed, "P2: only subscriptions that there are are refreshed", ordered)
        case .beginBudget(let duration):
            require(!isBudgetTold, "P6: one budget at a time", ordered)
            require(duration == .seconds(10), "P6: a wake has 10 s", ordered)
            isBudgetTold = true
        case .endBudget:
            require(isBudgetTold || isTellingDropped, "P6: the budget was told", ordered)
            (isBudgetTold, isTellingDropped) = (false, false)
            if ordered.number > budgetNumber, !isWokenForData { budgetFrom = nil }
        case .stopWork:
            require(calls == 0, "P6: no budget cuts an active call", ordered)
            isBudgetTold = false
        case .prepareForBackground:
            if case .done(.preparation(let answer)) = outcome {
                isPrepared = answer.isReady
            } else {
                isPrepared = false
            }
        case .stayAwake:
            (isPrepared, isSuspensionOwed) = (false, false)
        case .allowSuspension:
            require(position.application == .suspended, "P2: only what is to sleep is let sleep", ordered)
            require(!hasLocks, "P2: no lock is held in sleep", ordered)
            require(ownership != .held, "P2: what sleeps owns by its holder or not at all", ordered)
        case .applyLevels(let state): levels = state
        case .relaunchWithoutUserInterface: levels = .background
        case .holdActiveCalls:
            hasFailedToHold = !isDone
            if isDone { isCovered = true }
            if isDone, position.application != .suspended {
                isHeld = true
                isResumeOwed = !hasCellularCall
            }
        case .flagCallsUnavailable: isOutOfReach = true
        // A delegate that fails to report it is asked again at the next event, not before.
        case .reportLastKnownState: isOutOfReach = false
        case .takeMediaAway: isMediaAway = true
        case .offerResume:
            if isDone { (isHeld, isResumeOwed, isMediaAway) = (false, false, false) }
            if !isDone { isOfferTried = true }
        default: break
        }
        if ordered.action == .register, rows[ordered.number] == .some(.t2) {
            require(hasConnected, "P2: connected before it registers", ordered)
        }
        hasConnected = ordered.action == .reconnect && isDone
    }

    /// Validates the effects of an action on ownership and locks.
    private mutating func noteOwnership(
        _ ordered: OrderedAction, _ outcome: ConnectivityMachine.Outcome, at position: LifecyclePosition
    ) {
        let isDone = if case .done = outcome { true } else { false }
        switch ordered.action {
        case .giveUpLocks:
            require(position.application != .foreground, "P2: the foreground gives nothing up", ordered)
            if isDone { hasLocks = false }
        case .rest:
            require(position.application != .foreground, "P2: the foreground gives nothing up", ordered)
            require(!hasLocks, "P2: what rests holds no lock", ordered)
            hasTriedToResume = false
            guard case .done(.ownership(let answer)) = outcome else { break }
            (ownership, isWithoutHolder) = (answer, answer == .held)
        case .giveUpOwnership:
            require(isWithoutHolder, "P2: ownership is given up without a holder only", ordered)
            if isDone { ownership = .givenUp }
        case .resume:
            (hasFailedToResume, hasTriedToResume) = (!isDone, true)
            guard case .done(.ownership(let answer)) = outcome else { break }
            ownership = answer
            if answer == .held { hasLocks = true }
        case .checkConnectivity:
            require(ownership != .resting || hasTriedToResume, "P2: it is resumed before it is checked", ordered)
        case .mayOwnAgain: (hasLocks, ownership) = (true, .held)
        case .stayAwake:
            hasLocks = true
            if ownership == .givenUp || ownership == .lost { ownership = .held }
        case .processSocketData, .alertUser,
            _ where ordered.action.needsNetwork:
            if ownership == .held { hasLocks = true }
            guard position.application == .suspended || isWokenForData else {
                // A short wake needs no ownership, also while a call that keeps the application awake begins in it.
                let connects = [.reconnect, .openNewSocket, .register].contains(ordered.action)
                require(
                    ownership == .held || hasTriedToResume || !connects || budgetFrom != nil,
                    "P2: what stays awake owns before it registers", ordered)
                break
            }
            require(
                ownership != .resting && ownership != .lost, "P2: a wake works when it has resumed", ordered)
        default: break
        }
    }

    /// Validates a machine at rest: nothing is left to be done now.
    mutating func atRest(_ machine: ConnectivityMachine, at now: BootInstant) {
        require(machine.question == nil, "P2: no answer is waited for in vain", machine.position)
        require(!isResumeOwed || isOfferTried || !isOnline(machine), "P3: resume is offered", machine.position)
        if hasCellularCall, calls > 0, machine.hasCellularCall, machine.position.application != .suspended {
            require(isMediaAway, "P3: no media during a cellular call", machine.position)
        }
        if hasCellularCall, isOnline(machine), calls > 0, !hasFailedToHold {
            require(isCovered, "P3: calls are held during a cellular call", machine.position)
        }
        require(
            !isOutOfReach || !isOnline(machine), "P2: calls are in reach again once it is registered", machine.position)
        require(
            isSubscribed || hasFailedToSubscribe || !isOnline(machine), "P2: who is awake and registered is subscribed",
            machine.position)
        require(
            !isConnectionGone || !machine.isRegistered, "P2: nobody is registered on what is gone", machine.position)
        if machine.position == .foregroundConnected {
            require(
                machine.isRegistered || machine.nextStep != nil,
                "P2: the foreground tries again until it is registered",
                machine.position)
            if machine.isRegistered {
                require(
                    isHTTPRestored && isPresenceRestored, "P2: the foreground has presence and HTTP", machine.position)
            }
        }
        if machine.position.application != .suspended, let levels {
            require(levels == machine.position.application, "P1: the levels are those of the state", machine.position)
        }
        require(
            ownership == .held || hasFailedToResume || machine.position.application == .suspended,
            "P2: what stays awake may own again", machine.position)
        require(!isSuspensionOwed || calls > 0, "P6: a suspension that was put off comes", machine.position)
        require(budgetFrom == nil, "P6: a wake whose work is done is over", machine.position)
    }

    /// Validates an instant that the machine waits for, before the machine handles it.
    mutating func stepComes(at now: BootInstant, _ machine: ConnectivityMachine) {
        guard let keepAliveFrom, machine.wake != nil, keepAliveFrom.duration(to: now) > .seconds(10) else { return }
        let rest = machine.pending.filter { $0.action == .refreshRegistration || $0.action == .refreshSubscriptions }
        require(rest.isEmpty, "P4: a keep-alive's work is over after 10 s", rest)
    }

    /// Validates that time has passed.
    mutating func timePassed(to now: BootInstant) {
        if let budgetFrom {
            require(budgetFrom.duration(to: now) < .seconds(10), "P6: a wake is over after 10 s", now)
        }
    }

    private func isOnline(_ machine: ConnectivityMachine) -> Bool {
        machine.isRegistered && machine.position.connectivity == .connected
            && machine.position.application != .suspended
    }
}
