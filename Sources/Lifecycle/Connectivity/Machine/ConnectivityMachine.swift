public import CoreAPI

/// Application state and connectivity as one machine: it maps events and the time to ordered actions.
///
/// The machine is a value without a clock, I/O or randomness of its own: the same events at the same times with the
/// same seed give the same actions. ``handle(_:at:)`` takes an event; ``pending`` then contains the actions to carry
/// out, in order. The caller carries them out and reports the outcome of the first with ``finished(_:_:at:)``.
/// ``ConnectivityRunner`` does both.
///
/// The table (``TransitionTable``) decides the position after an event and the actions. The machine adds the rules that
/// a table cannot express: an active call postpones a suspension, the results of actions cause further actions, and
/// actions that no longer apply are dropped.
///
/// Source: contract P2, P3, P6.
public struct ConnectivityMachine: Hashable, Sendable {
    /// The table and the options.
    public let rules: ConnectivityRules
    /// The machine's position.
    public internal(set) var position: LifecyclePosition
    /// The pending actions, in order. The first is the next one, or is running.
    public package(set) var pending: [OrderedAction] = []
    /// True if the connection to the server was made and registered on, as far as is known.
    public internal(set) var isRegistered = false
    /// True if the connection is registered and has its subscriptions, too.
    public var isSubscribed: Bool { isRegistered && !owesSubscribe }
    /// The number of the application's calls that have media, or would have media without a cellular call.
    public package(set) var activeCalls = 0
    /// True while the telephone of the device is in a call.
    public internal(set) var hasCellularCall = false

    /// True if active calls were held because of a cellular call.
    package var holdsForCellularCall = false
    /// True if active calls must still be put on hold because of a cellular call.
    var owesHold = false
    /// The ownership of the core, as far as is known. If a rest was interrupted or has failed, the value is `resting`,
    /// so that a resume follows: a resume does nothing if the ownership is held.
    package internal(set) var ownership: CoreOwnership
    /// True if an action about ownership was cut off or has failed, and may have taken effect.
    var isOwnershipUncertain = false
    /// True if calls were reported unreachable, and not yet reachable again.
    package var owesReport = false
    /// True if the connection is registered but its subscriptions are not made yet.
    package var owesSubscribe = false
    /// A wake that is under way.
    package var wake: Wake?
    /// The answer that is awaited.
    package var question: Question?
    /// A suspension that waits for the end of the last active call.
    var postponed: Duration?
    /// How long the application sleeps, according to the system's last report.
    var interval: Duration
    /// The latest time at which the keep-alive wakes the application, as far as is known.
    package var wakesBy: BootInstant?
    var backoff: Backoff
    package var retryAt: BootInstant?
    private var lastNumber: UInt64 = 0

    /// Makes a machine in a position, without pending actions.
    ///
    /// - Parameters:
    ///   - position: The initial position of the application. For an application that starts with a network, begin
    ///     disconnected and pass ``ConnectivityEvent/networkBack``.
    ///   - isRegistered: Whether the connection is already registered, as in a test.
    ///   - rules: The pauses, bounds and other choices.
    ///   - seed: The seed of the random part of its pauses. The same seed produces the same pauses.
    public init(
        startingIn position: LifecyclePosition = LifecyclePosition(.foreground, .disconnected),
        isRegistered: Bool = false,
        rules: ConnectivityRules = ConnectivityRules(), seed: UInt64
    ) {
        self.position = position
        self.isRegistered = isRegistered && position.connectivity == .connected
        self.rules = rules
        self.interval = rules.interval
        self.ownership = position.application == .suspended ? .resting : .held
        self.backoff = Backoff(policy: rules.backoff, seed: seed)
    }

    /// Returns the present conditions for the levels of services.
    public func conditions(hasOtherActiveCall: Bool = false) -> ServiceConditions {
        ServiceConditions(
            position.application, hasCellularCall: hasCellularCall, hasOtherActiveCall: hasOtherActiveCall)
    }

    /// The time to call ``timePassed(at:)`` if nothing happens before; nil if there is nothing to wait for.
    public var nextStep: BootInstant? {
        guard let wake else { return retryAt }
        return min(wake.endsAt, wake.keepAliveEndsAt ?? wake.endsAt, retryAt ?? wake.endsAt)
    }

    /// Handles an event. An event without a row for the present position changes nothing, but has an entry in the
    /// trace.
    public mutating func handle(_ event: ConnectivityEvent, at now: BootInstant) -> ConnectivityTransition {
        let from = position
        let row = rules.table.row(for: event.kind, at: position)
        noteInterval(event, isListed: row != nil, at: now)
        var step =
            switch event {
            case .networkLost: loseNetwork(row)
            case .networkBack: regainNetwork(row)
            case .connectionLost: loseConnection(at: now)
            case .toBackground: toBackground(row)
            case .toForeground: toForeground(row)
            case .suspendedBySystem(let interval): suspend(row, for: interval, at: now)
            case .dataOnKeptSocket: wakeForData(row, at: now)
            case .keepAlive: wakeForKeepAlive(row, at: now)
            case .cellularCallBegan: beginCellularCall(row)
            case .cellularCallEnded: endCellularCall(row)
            case .killedOrRebooted(let connectivity): relaunch(row, with: connectivity)
            case .activeCallBegan: beginActiveCall()
            case .activeCallEnded: endActiveCall(at: now)
            case .budgetOver: wake == nil ? .unlisted("No wake is under way.") : endBudget()
            }
        concludeWake(&step, at: now)
        return trace(step, from: from, cause: .event(event), at: now)
    }

    /// Takes the step that is due at ``nextStep``: ends a wake whose budget is used up, ends a keep-alive, or tries to
    /// connect again. Call it at that time.
    ///
    /// - Returns: The transition; nil if nothing was due yet.
    public mutating func timePassed(at now: BootInstant) -> ConnectivityTransition? {
        let from = position
        var step: Step
        if let wake, wake.endsAt <= now {
            step = endBudget()
        } else if let end = wake?.keepAliveEndsAt, end <= now {
            guard let ended = endKeepAlive() else { return nil }
            step = ended
        } else if let retryAt, retryAt <= now {
            self.retryAt = nil
            step = Step(.t2, "The next attempt after a failed one.", actions(of: .t2))
        } else {
            return nil
        }
        concludeWake(&step, at: now)
        return trace(step, from: from, cause: .timePassed, at: now)
    }

    /// Creates the entry of the trace, and appends the new actions to the pending ones.
    mutating func trace(
        _ result: Step, from: LifecyclePosition, cause: ConnectivityTransition.Cause, at now: BootInstant
    ) -> ConnectivityTransition {
        var step = result
        step.actions += debts(after: step, from: from)
        regainOwnership(&step, from: from)
        let ordered = step.actions.map { action in
            lastNumber += 1
            return OrderedAction(number: lastNumber, action: action)
        }
        if step.actions.contains(.flagCallsUnavailable) { owesReport = true }
        pending += ordered
        return ConnectivityTransition(
            number: step.number, from: from, to: position, cause: cause, at: now, actions: ordered,
            dropped: step.dropped, reason: step.reason)
    }
}

/// The options of a connectivity machine.
public struct ConnectivityRules: Hashable, Sendable {
    /// The treatment of a suspension that the registrations would not survive.
    public enum Unprepared: String, CaseIterable, Hashable, Sendable {
        /// The application stays awake.
        case stayAwake
        /// The user is warned and the application sleeps.
        case warn
    }

    /// The actions of each transition.
    package var table = TransitionTable.standard
    /// The treatment of a suspension that the registrations would not survive.
    public var unprepared: Unprepared
    /// The time that a wake may last. Source: contract P4, P6.
    public var budget: Duration
    /// How long the application sleeps again after a wake, unless the system has reported another interval.
    public var interval: Duration
    /// The time to wait between attempts to connect.
    public var backoff: BackoffPolicy

    public init(
        unprepared: Unprepared = .stayAwake, budget: Duration = .seconds(10),
        interval: Duration = .seconds(600), backoff: BackoffPolicy = BackoffPolicy()
    ) {
        self.unprepared = unprepared
        self.budget = budget
        self.interval = interval
        self.backoff = backoff
    }
}
