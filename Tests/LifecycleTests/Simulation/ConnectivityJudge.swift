import CoreAPI

@testable import Lifecycle

/// Watches a connectivity machine from the outside, by what it was told, what it traced and what it had carried out, and
/// notes every breach of a rule. It keeps its own books.
struct ConnectivityJudge {
    private(set) var breaches: [String] = []
    /// Which cells of position and event came up.
    private(set) var cells: Set<String> = []
    /// Which rows did.
    private(set) var numbers: Set<TransitionNumber> = []

    private var calls = 0
    private var hasCellularCall = false
    private var isHeld = false
    private var isResumeOwed = false
    private var isMediaAway = false
    /// Whether a hold has reached all calls that there are.
    private var isCovered = false
    private var hasFailedToHold = false
    private var lastDone: UInt64 = 0
    private var dropped: Set<UInt64> = []
    private var budgetFrom: BootInstant?
    private var isBudgetTold = false
    /// Whether a wake was over before it was told how long it has.
    private var isTellingDropped = false
    private var hasGivenUp: Bool
    /// Whether resuming could not be offered, which is tried again with the next registration.
    private var isOfferTried = false
    /// Whether the system wants to suspend what an active call keeps awake.
    private var isSuspensionOwed = false
    private var isPrepared = true
    private var isHTTPRestored: Bool
    private var isPresenceRestored: Bool
    private var levels: ApplicationState?
    private var rows: [UInt64: TransitionNumber?] = [:]
    /// Whether the last action was a connection that was made.
    private var hasConnected = false

    init(startingIn position: LifePosition) {
        hasGivenUp = position.application == .suspended
        isHTTPRestored = position == .foregroundConnected
        isPresenceRestored = isHTTPRestored
        levels = position.application == .suspended ? nil : position.application
    }

    private mutating func require(_ holds: Bool, _ rule: String, _ what: @autoclosure () -> Any) {
        if !holds, breaches.count < 5 { breaches.append("\(rule): \(what())") }
    }

    /// Takes note of what happened, whether the machine heard of it or not.
    mutating func happened(_ event: ConnectivityEvent) {
        switch event {
        case .activeCallBegan:
            calls += 1
            (isCovered, isMediaAway) = (false, false)
        case .activeCallEnded: calls = max(0, calls - 1)
        case .cellularCallBegan:
            hasCellularCall = true
            isResumeOwed = false
        case .cellularCallEnded:
            hasCellularCall = false
            isResumeOwed = isHeld
        case .killedOrRebooted:
            calls = 0
            hasCellularCall = false
            (isHeld, isResumeOwed, isMediaAway, hasGivenUp, isPrepared) = (false, false, false, false, false)
            isSuspensionOwed = false
        default: break
        }
    }

    /// Judges a line of the trace.
    mutating func judge(_ transition: ConnectivityTransition, _ machine: ConnectivityMachine) {
        if let number = transition.number { numbers.insert(number) }
        if let event = transition.event {
            cells.insert("\(transition.from) \(event.kind)")
            judgeCell(transition, event)
        }
        if transition.cause == .timePassed, transition.from.application == .background {
            require(
                !transition.actions.contains { $0.action == .reconnect || $0.action == .openNewSocket },
                "P2: attempts in the background are those of the table", transition)
        }
        for ordered in transition.dropped {
            dropped.insert(ordered.number)
            if case .beginBudget = ordered.action { isTellingDropped = true }
        }
        for ordered in transition.actions {
            rows[ordered.number] = transition.number
            switch ordered.action {
            case .beginBudget: budgetFrom = transition.at
            case .endBudget, .stopWork: budgetFrom = nil
            default: break
            }
        }
        if transition.to.application == .suspended, transition.from.application != .suspended,
            transition.to.connectivity == .connected, !transition.actions.contains(where: { $0.action == .stopWork })
        {
            require(isPrepared, "P5: no sleep without the answer that it is survived", transition)
        }
        if case .event(.killedOrRebooted) = transition.cause {
            budgetFrom = nil
            isBudgetTold = false
        }
        if transition.to.application != .suspended, transition.from.application == .suspended {
            (hasGivenUp, isPrepared) = (false, false)
        }
        if transition.to.application == .foreground { (hasGivenUp, isPrepared) = (false, false) }
        if transition.to.application == .suspended {
            (isHeld, isResumeOwed, isSuspensionOwed) = (false, false, false)
        }
        if transition.event?.kind == .suspendedBySystem, transition.from.application == .background, calls > 0 {
            isSuspensionOwed = true
        }
        if transition.to.application == .foreground { isSuspensionOwed = false }
        if transition.to != .foregroundConnected { (isHTTPRestored, isPresenceRestored) = (false, false) }
        require(
            machine.position.application != .suspended || calls == 0, "P6: no sleep with an active call", transition)
    }

    private mutating func judgeCell(_ transition: ConnectivityTransition, _ event: ConnectivityEvent) {
        let listed = TransitionTableTests.listed.first { $0.0 == transition.from && $0.1 == event.kind }?.2
        switch event {
        case .activeCallBegan, .activeCallEnded, .budgetOver, .cellularCallBegan, .cellularCallEnded:
            break
        default:
            require(transition.number == listed, "P2: the row of a cell", transition)
        }
        guard transition.number != nil || event == .activeCallBegan else {
            require(
                transition.from == transition.to && transition.actions.isEmpty && transition.dropped.isEmpty,
                "P2: an unlisted cell changes nothing", transition)
            return
        }
        let to = transition.to
        switch event {
        case .networkLost: require(to.connectivity == .disconnected, "P2: a loss", transition)
        case .networkBack:
            let expected: Connectivity = to.application == .suspended ? .disconnected : .connected
            require(to.connectivity == expected, "P2: a return", transition)
        case .toForeground: require(to.application == .foreground, "P2: to the foreground", transition)
        case .toBackground: require(to.application == .background, "P2: to the background", transition)
        case .killedOrRebooted:
            require(to.application == .background, "P8: a relaunch is in the background", transition)
        case .dataOnKeptSocket:
            require(to.application == .background, "P6: data wakes", transition)
        case .cellularCallBegan, .cellularCallEnded, .keepAlive, .activeCallEnded, .activeCallBegan, .budgetOver,
            .suspendedBySystem:
            break
        }
    }

    /// Judges that an action is carried out now.
    mutating func carriedOut(
        _ ordered: OrderedAction, _ outcome: ConnectivityMachine.Outcome, at position: LifePosition
    ) {
        require(ordered.number > lastDone, "P2: actions in their order, each once", ordered)
        require(!dropped.contains(ordered.number), "P2: nothing that was dropped", ordered)
        lastDone = max(lastDone, ordered.number)
        let isDone = if case .done = outcome { true } else { false }
        switch ordered.action {
        case .restorePresence, .restoreHTTP:
            require(position == .foregroundConnected, "P1: presence and HTTP in the foreground only", ordered)
            if ordered.action == .restoreHTTP { isHTTPRestored = true } else { isPresenceRestored = true }
        case .reconnect:
            require(position.connectivity == .connected, "P2: nobody connects without a network", ordered)
        case .beginBudget(let duration):
            require(!isBudgetTold, "P6: one budget at a time", ordered)
            require(duration == .seconds(10), "P6: a wake has 10 s", ordered)
            isBudgetTold = true
        case .endBudget:
            require(isBudgetTold || isTellingDropped, "P6: the budget was told", ordered)
            (isBudgetTold, isTellingDropped) = (false, false)
        case .stopWork:
            require(calls == 0, "P6: no budget cuts an active call", ordered)
            isBudgetTold = false
        case .giveUpOwnershipAndLocks: hasGivenUp = true
        case .prepareForBackground:
            if case .done(.preparation(let answer)) = outcome {
                isPrepared = answer.isReady
            } else {
                isPrepared = false
            }
        case .stayAwake: (hasGivenUp, isPrepared, isSuspensionOwed) = (false, false, false)
        case .allowSuspension:
            require(position.application == .suspended, "P2: only what is to sleep is let sleep", ordered)
            require(hasGivenUp, "P2: nothing is held in sleep", ordered)
        case .applyLevels(let state): levels = state
        case .relaunchWithoutUserInterface: levels = .background
        case .holdActiveCalls:
            hasFailedToHold = !isDone
            if isDone { isCovered = true }
            if isDone, position.application != .suspended {
                isHeld = true
                isResumeOwed = !hasCellularCall
            }
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

    /// Judges a machine at rest: nothing is left to be done now.
    mutating func atRest(_ machine: ConnectivityMachine, at now: BootInstant) {
        require(machine.question == nil, "P2: no answer is waited for in vain", machine.position)
        require(!isResumeOwed || isOfferTried || !isOnline(machine), "P3: resume is offered", machine.position)
        if hasCellularCall, calls > 0, isOnline(machine) {
            require(isMediaAway, "P3: no media during a cellular call", machine.position)
        }
        if hasCellularCall, isOnline(machine), calls > 0, !hasFailedToHold {
            require(isCovered, "P3: calls are held during a cellular call", machine.position)
        }
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
        require(!isSuspensionOwed || calls > 0, "P6: a suspension that was put off comes", machine.position)
        require(budgetFrom == nil, "P6: a wake whose work is done is over", machine.position)
    }

    /// Judges that time has passed.
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
