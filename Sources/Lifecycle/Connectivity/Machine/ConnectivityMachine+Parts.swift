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
        /// True if the registrations survive the interval. `number` is the table's row of the suspension that waits for
        /// the answer.
        case preparation(interval: Duration, number: TransitionNumber)
        /// Asks if the connection is up (T16).
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

    /// Returns the actions of a row, with the times of the rules, and without a resume where nothing rests.
    func actions(of number: TransitionNumber) -> [ConnectivityAction] {
        rules.table[number].actions.compactMap { action in
            switch action {
            case .beginBudget: .beginBudget(rules.budget)
            case .prepareForBackground: .prepareForBackground(interval: interval)
            case .resume: needsResume ? action : nil
            default: action
            }
        }
    }

    /// True if work must wait for a resume that is not pending yet.
    var needsResume: Bool {
        (ownership == .resting || ownership == .lost) && !pending.contains { $0.action == .resume }
    }

    /// Removes the actions that no longer apply.
    mutating func drop(into step: inout Step, where condition: (ConnectivityAction) -> Bool) {
        let dropped = pending.filter { condition($0.action) }
        pending.removeAll { condition($0.action) }
        step.dropped += dropped
        // The first of the pending actions may be running, and may have taken effect.
        guard dropped.contains(where: { [.rest, .giveUpOwnership, .resume].contains($0.action) }) else { return }
        isOwnershipUncertain = true
        let isAnswered = !dropped.contains { $0.action == .rest || $0.action == .resume }
        if ownership == .held { ownership = isAnswered ? .givenUp : .resting }
    }

    /// True if the application may hold the ownership, and so must release it before it sleeps.
    var mustLetGo: Bool { ownership == .held || isOwnershipUncertain }

    /// Adds the action that takes ownership back after a sleep, or allows it again, when more than a wake keeps the
    /// application awake. It comes before work that needs the network.
    mutating func regainOwnership(_ step: inout Step, from: LifecyclePosition) {
        if wake != nil, needsResume, !step.actions.contains(.resume),
            let work = step.actions.firstIndex(where: \.needsNetwork)
        {
            step.actions.insert(.resume, at: work)
        }
        guard position.application != .suspended, wake == nil, question == nil else { return }
        switch ownership {
        case .held: return
        case .resting:
            if needsResume, isNews(step, from: from), !step.actions.contains(.resume) {
                step.actions.insert(.resume, at: 0)
            }
        case .givenUp, .lost:
            (ownership, isOwnershipUncertain) = (.held, false)
            let isSaid = step.actions.contains { if case .stayAwake = $0 { true } else { false } }
            let work = step.actions.firstIndex(where: \.needsNetwork) ?? step.actions.endIndex
            if !isSaid { step.actions.insert(.mayOwnAgain, at: work) }
        }
        attemptBehindOwnership(&step)
    }

    /// Moves a pending attempt to connect behind the actions that take ownership back. A process that registers must
    /// own, because otherwise the server has two contacts.
    private mutating func attemptBehindOwnership(_ step: inout Step) {
        let regaining = step.actions.lastIndex { action in
            switch action {
            case .resume, .mayOwnAgain, .stayAwake: true
            default: false
            }
        }
        let attempt = pending.map(\.action).filter(\.needsNetwork)
        guard let regaining, !attempt.isEmpty else { return }
        drop(into: &step) { $0.needsNetwork }
        step.actions.insert(contentsOf: attempt, at: regaining + 1)
    }

    /// Returns the postponed actions that must be done when the application is awake and registered. A wake does only
    /// its own work.
    func debts(after step: Step, from: LifecyclePosition) -> [ConnectivityAction] {
        let isStanding = isRegistered && position.connectivity == .connected && question == nil && wake == nil
        guard isStanding, isNews(step, from: from), position.application != .suspended else { return [] }
        return [.subscribe, .reportLastKnownState].filter { isOwed($0, after: step.actions) }
    }

    /// Returns true if a step has changed something. After a failure without any change it is useless to try again at
    /// once.
    private func isNews(_ step: Step, from: LifecyclePosition) -> Bool {
        step.number != nil || from != position || !step.actions.isEmpty || !step.dropped.isEmpty
    }

    /// Returns whether an action is owed and not yet in the queue.
    func isOwed(_ action: ConnectivityAction, after actions: [ConnectivityAction] = []) -> Bool {
        let isLeft = action == .subscribe ? owesSubscribe : owesReport
        return isLeft && !actions.contains(action) && !pending.contains { $0.action == action }
    }

    /// True while an attempt to connect and register is under way.
    var isAttempting: Bool {
        pending.contains { $0.action == .reconnect || $0.action == .openNewSocket || $0.action == .register }
    }
}
