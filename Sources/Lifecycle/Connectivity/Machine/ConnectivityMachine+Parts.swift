package import CoreAPI

extension ConnectivityMachine {
    /// A wake of a suspended application.
    package struct Wake: Hashable, Sendable {
        /// The row that began it.
        package let number: TransitionNumber
        /// The time at which it is cut off.
        package let endsAt: BootInstant
        /// When the work of a keep-alive that was interrupted by data is cut off; nil if there is none.
        package var keepAliveEndsAt: BootInstant?
    }

    /// An answer that is awaited before a transition can end.
    package enum Question: Hashable, Sendable {
        /// Whether the registrations survive the interval, with the row of the suspension.
        case preparation(interval: Duration, number: TransitionNumber)
        /// Whether the connection is up (T16).
        case connection
    }

    /// The consequences of one event.
    struct Step {
        var number: TransitionNumber?
        var reason: String
        var actions: [ConnectivityAction] = []
        var dropped: [OrderedAction] = []

        init(_ number: TransitionNumber?, _ reason: String, _ actions: [ConnectivityAction] = []) {
            self.number = number
            self.reason = reason
            self.actions = actions
        }

        /// Returns a cell that is not listed.
        static func unlisted(_ reason: String = "Not listed for this position: nothing changes.") -> Step {
            Step(nil, reason)
        }
    }

    /// Moves to the position of a row.
    mutating func go(by row: TransitionRow) {
        position.application = row.application ?? position.application
        position.connectivity = row.connectivity ?? position.connectivity
    }

    /// Returns the actions of a row, with the times of the rules.
    func actions(of number: TransitionNumber) -> [ConnectivityAction] {
        rules.table[number].actions.map { action in
            switch action {
            case .beginBudget: .beginBudget(rules.budget)
            case .prepareForBackground: .prepareForBackground(interval: interval)
            default: action
            }
        }
    }

    /// Removes the actions that no longer apply.
    mutating func drop(into step: inout Step, where condition: (ConnectivityAction) -> Bool) {
        step.dropped += pending.filter { condition($0.action) }
        pending.removeAll { condition($0.action) }
    }

    /// Returns the action that allows ownership and locks again after a sleep, when more than a wake keeps the
    /// application awake.
    mutating func ownership(after step: Step) -> [ConnectivityAction] {
        let isDropped = step.dropped.contains { $0.action == .giveUpOwnershipAndLocks }
        if isDropped, step.number != .t18 { hasGivenUp = true }
        guard hasGivenUp, position.application != .suspended, wake == nil, question == nil else { return [] }
        hasGivenUp = false
        let isSaid = step.actions.contains { if case .stayAwake = $0 { true } else { false } }
        return isSaid ? [] : [.mayOwnAgain]
    }

    /// Returns the owed actions that are due when the application is awake and registered; a wake only does its own
    /// work.
    func debts(after step: Step, from: LifecyclePosition) -> [ConnectivityAction] {
        let isStanding = isRegistered && position.connectivity == .connected && question == nil && wake == nil
        // A failure without other consequences is no reason to try again at once.
        let isNews = step.number != nil || from != position || !step.actions.isEmpty || !step.dropped.isEmpty
        guard isStanding, isNews, position.application != .suspended else { return [] }
        return [.subscribe, .reportLastKnownState].filter { isOwed($0, after: step.actions) }
    }

    /// Returns whether an action is owed and not yet in the queue.
    func isOwed(_ action: ConnectivityAction, after actions: [ConnectivityAction] = []) -> Bool {
        let isLeft = action == .subscribe ? owesSubscribe : owesReport
        return isLeft && !actions.contains(action) && !pending.contains { $0.action == action }
    }

    /// Whether an attempt to connect and register is under way.
    var isAttempting: Bool {
        pending.contains { $0.action == .reconnect || $0.action == .openNewSocket || $0.action == .register }
    }
}
