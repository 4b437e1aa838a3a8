internal import CoreAPI
package import Lifecycle

/// Validates a connectivity machine from the outside, by its events, its trace and its actions, and records every
/// breach of a rule. It derives the expected state by itself.
package struct ConnectivityValidator {
    package private(set) var breaches: [String] = []
    /// Every rule that came up.
    package private(set) var rules: Set<String> = []
    /// The cells of position and event that came up.
    package private(set) var cells: Set<String> = []
    /// The rows that came up.
    package private(set) var numbers: Set<TransitionNumber> = []

    var calls = 0
    var hasCellularCall = false
    var isHeld = false
    var isResumeOwed = false
    var isMediaAway = false
    /// True if a hold succeeded since the last active call began.
    var isCovered = false
    var hasFailedToHold = false
    var lastDone: UInt64 = 0
    var dropped: Set<UInt64> = []
    var budgetFrom: BootInstant?
    /// The action that began it.
    var budgetNumber: UInt64 = 0
    /// True while data on a kept socket keeps awake an application that would sleep otherwise. Its budget ends only
    /// when it sleeps again.
    var isWokenForData = false
    var isBudgetTold = false
    /// True if the action that tells a wake its budget was dropped.
    var isTellingDropped = false
    /// True while the application may hold locks.
    var hasLocks: Bool
    var ownership: CoreOwnership
    /// True if the last rest found no holder.
    var isWithoutHolder = false
    /// True after a resume has failed; the machine tries it again at the next event.
    var hasFailedToResume = false
    /// True if a resume was carried out since the last rest.
    var hasTriedToResume = false
    /// True if an offer to resume the calls has failed; the machine tries it again with the next registration.
    var isOfferTried = false
    /// True if the system wants to suspend the application, and an active call prevents it.
    var isSuspensionOwed = false
    /// True after calls were flagged as unavailable, until the last known state is reported.
    var isOutOfReach = false
    /// True if the connection has its subscriptions; the next is true if subscribing failed.
    var isSubscribed: Bool
    var hasFailedToSubscribe = false
    /// When the keep-alive comes at the latest.
    var wakesBy: BootInstant?
    /// True if the connection of the registration is lost.
    var isConnectionGone = false
    /// True if the last event was a loss of connection that the machine has to answer with a new attempt, if its table
    /// has one.
    var isLossNews = false
    /// True if the last event was a keep-alive in the background without a registration, which has to reconnect.
    var isMadeUpFor = false
    /// When the last keep-alive woke the application; nil once a call, or the loss of its network, has ended its work.
    var keepAliveFrom: BootInstant?
    var isPrepared = true
    var isHTTPRestored: Bool
    var isPresenceRestored: Bool
    var levels: ApplicationState?
    var rows: [UInt64: TransitionNumber?] = [:]
    /// True if the last action reconnected successfully.
    var hasConnected = false

    init(startingIn position: LifecyclePosition) {
        hasLocks = position.application != .suspended
        ownership = hasLocks ? .held : .resting
        isSubscribed = position.connectivity == .connected
        isHTTPRestored = position == .foregroundConnected
        isPresenceRestored = isHTTPRestored
        levels = position.application == .suspended ? nil : position.application
    }

    mutating func require(_ holds: Bool, _ rule: String, _ what: @autoclosure () -> Any) {
        rules.insert(rule)
        if !holds, breaches.count < 5 { breaches.append("\(rule): \(what())") }
    }

    /// Records an event, even if the machine was not told.
    mutating func happened(_ event: ConnectivityEvent) {
        switch event {
        case .activeCallBegan:
            calls += 1
            (isCovered, isMediaAway) = (false, false)
            keepAliveFrom = nil
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
            (isHeld, isResumeOwed, isMediaAway, isPrepared) = (false, false, false, false)
            isSuspensionOwed = false
            (hasLocks, ownership, hasTriedToResume) = (true, .held, false)
            isOutOfReach = false
        default: break
        }
    }

    /// Validates a line of the trace.
    mutating func judge(_ transition: ConnectivityTransition, _ machine: ConnectivityMachine) {
        if let number = transition.number { numbers.insert(number) }
        if let event = transition.event {
            cells.insert("\(transition.from) \(event.kind)")
            judgeCell(transition, event)
            noteInterval(event, transition)
            if event == .networkLost, transition.number != nil { keepAliveFrom = nil }
            let first = transition.actions.first { $0.action != .resume }
            if first.map({ if case .beginBudget = $0.action { true } else { false } }) == true {
                keepAliveFrom = event == .keepAlive ? transition.at : nil
            }
        }
        // An attempt that is put off until the application owns is the same attempt.
        let isPutBehind = transition.dropped.allSatisfy { dropped in
            transition.actions.contains { $0.action == dropped.action }
        }
        if transition.cause == .timePassed, transition.from.application == .background,
            transition.dropped.isEmpty || !isPutBehind
        {
            require(
                !transition.actions.contains { $0.action == .reconnect || $0.action == .openNewSocket },
                "P2: attempts in the background are those of the table", transition)
        }
        if transition.cause == .timePassed, !isPutBehind {
            require(calls == 0, "P6: no budget cuts an active call", transition)
            let isEnd = transition.actions.contains { $0.action == .stopWork }
            require(isEnd || keepAliveFrom != nil, "P4: the end of a keep-alive stops its own work only", transition)
        }
        for ordered in transition.dropped {
            dropped.insert(ordered.number)
            if case .beginBudget = ordered.action { isTellingDropped = true }
        }
        for ordered in transition.actions {
            rows[ordered.number] = transition.number
            switch ordered.action {
            case .beginBudget: (budgetFrom, budgetNumber) = (transition.at, ordered.number)
            case .stopWork: budgetFrom = nil
            case .prepareForBackground(let interval):
                guard let wakesBy, wakesBy > transition.at else { break }
                require(
                    transition.at.advanced(by: interval) == wakesBy, "P5: it is asked until the keep-alive", transition)
            default: break
            }
        }
        noteWake(transition, machine)
        if transition.to.application == .suspended, transition.from.application != .suspended,
            transition.to.connectivity == .connected, !transition.actions.contains(where: { $0.action == .stopWork }),
            transition.cause != .done(.resume, .ownership(.lost))
        {
            require(isPrepared, "P5: no sleep without the answer that it is survived", transition)
        }
        if case .event(.killedOrRebooted) = transition.cause {
            budgetFrom = nil
            isBudgetTold = false
        }
        if transition.to.application != .suspended, transition.from.application == .suspended {
            isPrepared = false
            // A wake holds nothing before it has resumed.
            if transition.event != .dataOnKeptSocket { hasLocks = true }
        }
        if transition.to.application == .foreground { (hasLocks, isPrepared) = (true, false) }
        if transition.from != transition.to { hasFailedToResume = false }
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

    /// The time of a wake is over when nothing of its work is left, or when something else keeps the application awake.
    private mutating func noteWake(_ transition: ConnectivityTransition, _ machine: ConnectivityMachine) {
        if transition.event?.kind == .dataOnKeptSocket, transition.number != nil { isWokenForData = true }
        let isKeptAwake =
            transition.to.application == .foreground || calls > 0
            || transition.actions.contains { if case .stayAwake = $0.action { true } else { false } }
        if isKeptAwake || transition.to.application == .suspended { isWokenForData = false }
        guard let end = transition.actions.last(where: { $0.action == .endBudget }), end.number > budgetNumber else {
            return
        }
        if isKeptAwake || (machine.pending.first == end && !isWokenForData) { budgetFrom = nil }
    }

    private mutating func noteInterval(_ event: ConnectivityEvent, _ transition: ConnectivityTransition) {
        switch event {
        case .suspendedBySystem(let interval) where transition.number != nil:
            wakesBy = transition.at.advanced(by: interval)
        case .keepAlive where wakesBy != nil: wakesBy = transition.at.advanced(by: .seconds(600))
        case .killedOrRebooted: wakesBy = nil
        default: break
        }
    }

    private mutating func judgeCell(_ transition: ConnectivityTransition, _ event: ConnectivityEvent) {
        let listed = ListedCells.all.first { $0.0 == transition.from && $0.1 == event.kind }?.2
        switch event {
        case .activeCallBegan, .activeCallEnded, .budgetOver, .cellularCallBegan, .cellularCallEnded:
            break
        default:
            require(transition.number == listed, "P2: the row of a cell", transition)
        }
        let isMakingUp = event == .keepAlive && transition.from == .backgroundConnected
        if isMakingUp { hasFailedToSubscribe = false }
        require(
            !isMadeUpFor || transition.actions.contains { $0.action == .reconnect },
            "P2: the keep-alive makes up for the connection", transition)
        guard transition.number != nil || event == .activeCallBegan || event == .connectionLost || isMakingUp else {
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
        case .connectionLost:
            let isAttempted = transition.actions.contains { $0.action == .reconnect || $0.action == .openNewSocket }
            require(
                isAttempted || !isLossNews || to.application != .background,
                "P2: a connection that is gone is made anew", transition)
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
}
