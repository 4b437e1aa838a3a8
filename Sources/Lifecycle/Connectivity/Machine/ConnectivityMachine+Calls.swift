internal import CoreAPI

/// Handles the beginnings and ends of calls, the application's and the telephone's.
extension ConnectivityMachine {
    /// Handles the beginning of a cellular call: transition T17.
    mutating func beginCellularCall(_ row: TransitionRow?) -> Step {
        guard !hasCellularCall else { return .unlisted("The cellular call is known already.") }
        hasCellularCall = true
        guard let row else {
            owesHold = true
            // Removing media needs no signaling.
            let hasMedia = activeCalls > 0
            return Step(
                hasMedia ? .t17 : nil, "Without a connection no call can be held; that is done later.",
                hasMedia ? [.takeMediaAway] : [])
        }
        go(by: row)
        var step = Step(row.number, row.sentence, actions(of: row.number))
        if isAttempting, position.application != .suspended {
            // Drop a pending attempt to connect, so that media is removed at once.
            drop(into: &step) { $0.needsNetwork }
            step.actions += actions(of: position.application == .foreground ? .t2 : .t4)
        }
        return step
    }

    /// Handles the end of a cellular call: transition T17.
    mutating func endCellularCall(_ row: TransitionRow?) -> Step {
        guard hasCellularCall else { return .unlisted("No cellular call is known.") }
        hasCellularCall = false
        owesHold = false
        guard let row else { return .unlisted("Without a connection nothing can be resumed; it is offered later.") }
        return Step(row.number, "The cellular call is over.", [.offerResume])
    }

    /// Returns the actions that are still to be done because a cellular call began or ended while there was no
    /// connection.
    func cellularDebt() -> [ConnectivityAction] {
        if hasCellularCall { return owesHold ? actions(of: .t17) : [] }
        let isOffered = pending.contains { $0.action == .offerResume }
        return holdsForCellularCall && !isOffered ? [.offerResume] : []
    }

    /// Records a call with media: the application is not suspended while it lasts (contract P6).
    mutating func beginActiveCall() -> Step {
        activeCalls += 1
        // The work of a keep-alive has no time limit while a call is active.
        wake?.keepAliveEndsAt = nil
        var step = Step.unlisted("An active call began.")
        if position.application == .suspended {
            position.application = .background
            postponed = interval
            step.reason = "An active call began: the application is awake until it ends."
            if wake != nil { step.actions.append(.endBudget) }
            wake = nil
        }
        if case .preparation(let interval, _) = question {
            postponed = interval
            step.reason = "An active call began: the suspension waits for its end."
        }
        forgetSuspension(&step)
        guard hasCellularCall else { return step }
        if position.connectivity == .connected {
            step.number = .t17
            step.actions += actions(of: .t17)
        } else {
            owesHold = true
            step.actions.append(.takeMediaAway)
        }
        return step
    }

    mutating func endActiveCall(at now: BootInstant) -> Step {
        guard activeCalls > 0 else { return .unlisted("No active call is known.") }
        activeCalls -= 1
        guard activeCalls == 0, postponed != nil, wake == nil, position.application == .background else {
            return .unlisted("An active call ended.")
        }
        let number: TransitionNumber = position.connectivity == .connected ? .t6 : .t7
        return fallAsleep(
            by: number, at: now,
            "The last active call is over: the suspension that waited for it. " + rules.table[number].sentence)
    }
}
