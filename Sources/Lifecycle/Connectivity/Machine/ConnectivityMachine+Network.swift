internal import CoreAPI

/// Handles the loss and return of the network.
extension ConnectivityMachine {
    /// Handles the loss of the network: transitions T1, T5 and T13.
    mutating func loseNetwork(_ row: TransitionRow?) -> Step {
        guard let row else { return .unlisted() }
        go(by: row)
        var step = Step(row.number, row.sentence, actions(of: row.number))
        isRegistered = false
        retryAt = nil
        drop(into: &step) { $0.needsNetwork }
        // Reconnecting after the network is back is not the work of a keep-alive.
        wake?.keepAliveEndsAt = nil
        forgetCheck(&step)
        return step
    }

    /// Handles the return of the network: transitions T2, T4 and T14.
    mutating func regainNetwork(_ row: TransitionRow?) -> Step {
        guard let row else { return .unlisted() }
        go(by: row)
        var step = Step(row.number, row.sentence, actions(of: row.number))
        guard row.number != .t14 else { return step }
        backoff.reset()
        forgetCheck(&step)
        return step
    }

    /// Handles the loss of the connection to the server while there is a network. No row of the table covers it, so it
    /// is treated as a failed attempt to connect.
    mutating func loseConnection(at now: BootInstant) -> Step {
        guard isRegistered, position.connectivity == .connected else {
            return .unlisted("No connection is registered; an attempt in progress will find out.")
        }
        if question == .connection {
            isRegistered = false
            return .unlisted("The connection is gone; the pending check decides what follows.")
        }
        var step: Step
        switch position.application {
        case _ where wake != nil:
            // The new connection is part of this wake's work, and not limited by the time of a keep-alive that was
            // interrupted.
            wake?.keepAliveEndsAt = nil
            step = connectionGone("The connection is gone; the rest of the time is for a new one.")
        case .background where !owesSubscribe:
            isRegistered = false
            step = Step(nil, "The connection is gone; one attempt, as in T4.", actions(of: .t4))
            drop(into: &step) { $0.needsNetwork }
        case .foreground, .background:
            // In the background, a connection that ends before its subscriptions was the single attempt.
            step = attemptFailed(at: now)
            step.reason = "The connection is gone. " + step.reason
        case .suspended:
            isRegistered = false
            return .unlisted("The connection is gone; the next keep-alive makes a new one.")
        }
        step.number = nil
        return step
    }

    /// Handles a lost connection that is detected during a wake: by a refresh, by unreadable data or by a report of the
    /// network. Uses the rest of the wake's time for a new connection, as transition T15 does. If the application
    /// sleeps, the step is transition T13.
    mutating func connectionGone(_ reason: String) -> Step {
        isRegistered = false
        var step = Step(wake?.number, reason)
        // If the application was about to sleep, it sleeps after the new work is done.
        if position.application == .suspended { takeBackRest(&step) } else { forgetSuspension(&step) }
        step.actions = actions(of: .t15).filter(\.needsNetwork)
        if position.application == .suspended {
            position.connectivity = .disconnected
            step.number = .t13
        } else {
            step.actions.append(.subscribe)
        }
        drop(into: &step) { $0.needsNetwork }
        return step
    }

    /// Drops a pending check of the connection, which the change of the network has answered, and sets the service
    /// levels that would have followed the check.
    private mutating func forgetCheck(_ step: inout Step) {
        guard question == .connection else { return }
        question = nil
        drop(into: &step) { $0 == .checkConnectivity }
        if position.application == .foreground { step.actions.insert(.applyLevels(.foreground), at: 0) }
    }

    /// Handles the start of the application after a kill or a reboot: transition T18.
    mutating func relaunch(_ row: TransitionRow?, with connectivity: Connectivity) -> Step {
        guard let row else { return .unlisted() }
        go(by: row)
        position.connectivity = connectivity
        var step = Step(row.number, row.sentence, actions(of: row.number))
        if connectivity == .disconnected {
            step.actions.removeAll(where: \.needsNetwork)
            step.reason += " There is no network yet."
        }
        drop(into: &step) { _ in true }
        isRegistered = false
        (ownership, isOwnershipUncertain) = (.held, false)
        activeCalls = 0
        hasCellularCall = false
        holdsForCellularCall = false
        owesHold = false
        wakesBy = nil
        owesReport = false
        owesSubscribe = false
        wake = nil
        question = nil
        postponed = nil
        retryAt = nil
        backoff.reset()
        return step
    }

    /// Handles a failed attempt to connect. In the foreground with a network another attempt follows; otherwise the
    /// table has none.
    mutating func attemptFailed(at now: BootInstant) -> Step {
        isRegistered = false
        var step: Step
        switch position.application {
        case .foreground where position.connectivity == .disconnected:
            step = Step(nil, "The attempt failed; the network is waited for.")
        case .foreground:
            let wait = backoff.failed()
            retryAt = now.advanced(by: wait)
            step = Step(.t2, "The attempt failed; the next one comes in \(wait).")
        case .background:
            step = Step(.t4, "The attempt failed; there is no other one in the background.")
        case .suspended:
            step = Step(wake?.number, "The attempt failed; the next keep-alive tries again.")
        }
        drop(into: &step) { $0.needsNetwork }
        return step
    }

    /// Continues T16 with the result of the check of the connection.
    mutating func checked(_ check: ConnectionStatus) -> Step {
        question = nil
        let wasConnected = position.connectivity == .connected
        let isInFront = position.application == .foreground
        let levels: [ConnectivityAction] = isInFront ? [.applyLevels(.foreground)] : []
        switch check {
        case .stands where isRegistered:
            return Step(
                .t16, "The connection stands.", isInFront ? actions(of: .t9) : [])
        case .stands, .networkOnly:
            position.connectivity = .connected
            isRegistered = false
            backoff.reset()
            return Step(
                .t16, "The connection must be made anew.", levels + actions(of: isInFront ? .t2 : .t4))
        case .noNetwork:
            position.connectivity = .disconnected
            isRegistered = false
            return Step(
                .t16, "There is no network.", levels + (wasConnected ? actions(of: isInFront ? .t1 : .t5) : []))
        }
    }
}
