internal import CoreAPI

/// Wakes a suspended application for a short time.
extension ConnectivityMachine {
    /// T11.
    mutating func wakeForData(_ row: TransitionRow?, at now: BootInstant) -> Step {
        guard let row else { return .unlisted() }
        go(by: row)
        var step = Step(row.number, row.sentence, wake == nil ? [] : [.endBudget])
        forgetSuspension(&step)
        // A keep-alive's work starts again after the data's, with the time that it had left.
        drop(into: &step) { $0.needsNetwork }
        let rest = step.dropped.map(\.action).filter(\.needsNetwork)
        wake = Wake(
            number: row.number, endsAt: now.advanced(by: rules.budget),
            keepAliveEndsAt: rest.isEmpty ? nil : wake?.endsAt)
        step.actions += actions(of: row.number) + rest
        return step
    }

    /// T12, T15.
    mutating func wakeForKeepAlive(_ row: TransitionRow?, at now: BootInstant) -> Step {
        guard let row else { return position == .backgroundConnected ? makeUp() : .unlisted() }
        go(by: row)
        guard wake == nil else { return Step(row.number, "A wake is under way already.") }
        wake = Wake(number: row.number, endsAt: now.advanced(by: rules.budget))
        if row.number == .t12, !isRegistered {
            return Step(
                row.number, "The connection had not been made again: a new socket in place of a refresh.",
                actions(of: .t15) + [.subscribe])
        }
        var step = Step(row.number, row.sentence, actions(of: row.number))
        if row.number == .t12, owesSubscribe {
            step.actions = step.actions.map { $0 == .refreshSubscriptions ? .subscribe : $0 }
            step.reason = "The registration is refreshed; the subscriptions were not made yet."
        }
        return step
    }

    /// Handles a keep-alive while the application is awake in the background, where nothing else retries a failed
    /// attempt.
    private mutating func makeUp() -> Step {
        guard wake == nil, question == nil, !isAttempting else { return .unlisted() }
        if !isRegistered {
            return Step(nil, "The connection had not been made again: one attempt, as in T4.", actions(of: .t4))
        }
        guard isOwed(.subscribe) else { return .unlisted() }
        return Step(nil, "The subscriptions had not been made.", [.subscribe])
    }

    /// Ends the time of a keep-alive, while that of the data that interrupted it continues.
    mutating func endKeepAlive() -> Step? {
        guard let wake else { return nil }
        self.wake?.keepAliveEndsAt = nil
        var step = Step(wake.number, "The time of the keep-alive is over: what is left of its work is stopped.")
        drop(into: &step) { $0.needsNetwork }
        return step.dropped.isEmpty ? nil : step
    }

    /// Ends the time of a wake. An active call is exempt (contract P6).
    mutating func endBudget() -> Step {
        guard let wake else { return .unlisted() }
        self.wake = nil
        if activeCalls > 0 {
            postponed = interval
            return Step(wake.number, "An active call is exempt from the budget.", [.endBudget])
        }
        var step = Step(wake.number, "The time is over: what still runs is stopped.", [.stopWork])
        drop(into: &step) { _ in true }
        question = nil
        retryAt = nil
        // Even the current action is cancelled; an action that does not belong to the wake starts again afterwards.
        if position.application != .suspended || step.dropped.contains(where: { $0.action == .giveUpOwnershipAndLocks })
        {
            sleep()
            step.actions.append(.giveUpOwnershipAndLocks)
        }
        step.actions += step.dropped.map(\.action).filter(\.outlivesWake)
        if position.connectivity == .disconnected { step.actions.append(.relyOnKeepAlive) }
        step.actions.append(.allowSuspension)
        return step
    }

    /// Ends a wake when all of its work is done: the application sleeps again.
    ///
    /// - Returns: Whether the wake was ended.
    @discardableResult
    mutating func concludeWake(_ step: inout Step, at now: BootInstant) -> Bool {
        guard let wake, question == nil, pending.isEmpty, step.actions.isEmpty else { return false }
        if position.application == .suspended {
            self.wake = nil
            step.number = step.number ?? wake.number
            step.reason += " The wake is over in time."
            step.actions = [.endBudget, .allowSuspension]
        } else if activeCalls > 0 {
            self.wake = nil
            postponed = interval
            step.number = step.number ?? wake.number
            step.reason += " The work is done; an active call keeps the application awake."
            step.actions = [.endBudget]
        } else {
            let dropped = step.dropped
            step = fallAsleep(by: wake.number, at: now, "The work is done: suspended again.")
            step.dropped = dropped + step.dropped
        }
        return true
    }
}
