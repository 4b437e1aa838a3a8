internal import CoreAPI

/// Wakes a suspended application for a short time.
extension ConnectivityMachine {
    /// Handles data on a kept socket: transition T11.
    mutating func wakeForData(_ row: TransitionRow?, at now: BootInstant) -> Step {
        guard let row else { return .unlisted() }
        go(by: row)
        var step = Step(row.number, row.sentence, wake == nil ? [] : [.endBudget])
        forgetSuspension(&step)
        // The data interrupts the work of a keep-alive, which starts again after the data, with its remaining time.
        drop(into: &step) { $0.needsNetwork }
        let rest = step.dropped.map(\.action).filter(\.needsNetwork)
        wake = Wake(
            number: row.number, endsAt: now.advanced(by: rules.budget),
            keepAliveEndsAt: rest.isEmpty ? nil : wake?.endsAt)
        step.actions += actions(of: row.number) + rest
        return step
    }

    /// Handles a keep-alive while the application sleeps: transitions T12 and T15.
    mutating func wakeForKeepAlive(_ row: TransitionRow?, at now: BootInstant) -> Step {
        guard let row else { return position == .backgroundConnected ? makeUp() : .unlisted() }
        go(by: row)
        guard wake == nil else { return Step(row.number, "A wake is under way already.") }
        wake = Wake(number: row.number, endsAt: now.advanced(by: rules.budget))
        var step = Step(row.number, row.sentence)
        takeBackRest(&step)
        if row.number == .t12, !isRegistered {
            step.reason = "The connection had not been made again: a new socket in place of a refresh."
            step.actions = actions(of: .t15) + [.subscribe]
            return step
        }
        step.actions = actions(of: row.number)
        if row.number == .t12, owesSubscribe {
            step.actions = step.actions.map { $0 == .refreshSubscriptions ? .subscribe : $0 }
            step.reason = "The registration is refreshed; the subscriptions were not made yet."
        }
        return step
    }

    /// Handles a keep-alive while the application is awake in the background. Only this repeats an attempt to connect
    /// that has failed there.
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
        // Cancel also the running action. One that does not belong to the wake starts again afterwards.
        let isCutOff = step.dropped.contains { $0.action == .giveUpLocks }
        if position.application != .suspended || mustLetGo || isCutOff {
            sleep()
            step.actions += ConnectivityAction.lettingGo
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
        if position.application == .suspended, mustLetGo {
            step.number = step.number ?? wake.number
            step.reason += " The work is done: it rests again."
            step.actions = ConnectivityAction.lettingGo
        } else if position.application == .suspended {
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
            let (dropped, reason) = (step.dropped, step.reason)
            step = fallAsleep(by: wake.number, at: now, "The work is done: suspended again.")
            if !dropped.isEmpty { step.reason = reason + " Suspended again." }
            step.dropped = dropped + step.dropped
        }
        return true
    }
}

/// The ownership of the core across a sleep.
extension ConnectivityMachine {
    /// Handles the answer to a rest, a release or a resume.
    mutating func ownershipAnswered(
        _ action: ConnectivityAction, _ result: ConnectivityActionResult, at now: BootInstant
    ) -> Step? {
        let answer: CoreOwnership? = if case .ownership(let answer) = result { answer } else { nil }
        switch action {
        case .rest:
            ownership = answer ?? .resting
            isOwnershipUncertain = false
            // If there was no holder, the next action releases the ownership.
            guard ownership != .held else { return nil }
            var step = Step(restNumber, "The holder owns: nothing is given up.")
            pending.removeAll { pending in
                guard pending.action == .giveUpOwnership else { return false }
                step.dropped.append(pending)
                return true
            }
            return step
        case .giveUpOwnership:
            (ownership, isOwnershipUncertain) = (.givenUp, false)
            return nil
        default:
            isOwnershipUncertain = false
            switch answer ?? .held {
            case .held:
                ownership = .held
                return nil
            case .resting, .givenUp, .lost: return restWasOver(at: now)
            }
        }
    }

    /// Withdraws a rest that is not complete, because new work has come before the application slept.
    mutating func takeBackRest(_ step: inout Step) {
        guard pending.contains(where: { $0.action == .rest }) else { return }
        drop(into: &step) { ConnectivityAction.lettingGo.contains($0) || $0 == .allowSuspension }
    }

    /// The row of the sleep that is under way.
    private var restNumber: TransitionNumber {
        if case .preparation(_, let number) = question { return number }
        return wake?.number ?? (position.connectivity == .connected ? .t6 : .t7)
    }

    /// Handles a resume that came after the end of the rest. Another process may own and do the work of the wake. The
    /// core has been stopped, which has ended its connection.
    private mutating func restWasOver(at now: BootInstant) -> Step {
        ownership = .lost
        let ended = wake
        guard ended != nil, activeCalls == 0 else {
            wake = nil
            var step = question == nil ? loseConnection(at: now) : .unlisted("The check decides the rest.")
            isRegistered = false
            step.reason = "The rest was over: it may own again. " + step.reason
            if let ended {
                // An active call keeps the application awake.
                postponed = interval
                step.number = ended.number
                step.actions.insert(.endBudget, at: 0)
            }
            return step
        }
        var step = dropWork("The rest was over: an Executor does the work of this wake.")
        isRegistered = false
        wake = nil
        sleep()
        // Data may have interrupted a suspension before its locks were released, so release them again.
        step.actions = [.endBudget, .giveUpLocks] + step.actions
        if position.connectivity == .disconnected { step.actions.append(.relyOnKeepAlive) }
        step.actions.append(.allowSuspension)
        return step
    }

    /// Drops the work of a wake, and keeps other actions.
    mutating func dropWork(_ reason: String) -> Step {
        var step = Step(wake?.number, reason)
        wake?.keepAliveEndsAt = nil
        let known = (ownership, isOwnershipUncertain)
        drop(into: &step) { _ in true }
        (ownership, isOwnershipUncertain) = known
        step.actions = step.dropped.map(\.action).filter(\.outlivesWake)
        return step
    }
}
