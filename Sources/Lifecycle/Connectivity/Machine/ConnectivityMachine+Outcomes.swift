public import CoreAPI

extension ConnectivityMachine {
    /// The outcome of carrying out an action.
    public enum Outcome: Hashable, Sendable {
        /// The action is done, with this result.
        case done(ConnectivityActionResult)
        /// The action failed, for this reason.
        case failed(String)
    }

    /// Handles the outcome of the first action of ``pending``.
    ///
    /// - Returns: The transition; nil if there is none, or if the action had been dropped meanwhile.
    public mutating func finished(
        _ number: UInt64, _ outcome: Outcome, at now: BootInstant
    ) -> ConnectivityTransition? {
        guard let first = pending.first, first.number == number else { return nil }
        let from = position
        pending.removeFirst()
        let cause: ConnectivityTransition.Cause
        var step: Step
        var isNews: Bool
        switch outcome {
        case .done(let finding):
            cause = .done(first.action, finding)
            let answer = done(first.action, finding, at: now)
            step = answer ?? .unlisted("Done.")
            isNews = answer != nil
        case .failed(let reason):
            cause = .failed(first.action, reason)
            step = failed(first.action, reason, at: now)
            isNews = true
        }
        if concludeWake(&step, at: now) { isNews = true }
        return isNews ? trace(step, from: from, cause: cause, at: now) : nil
    }

    private mutating func done(
        _ action: ConnectivityAction, _ finding: ConnectivityActionResult, at now: BootInstant
    ) -> Step? {
        switch action {
        case .register:
            return registered()
        case .holdActiveCalls:
            // Even if the cellular call is over meanwhile: resuming the held call must be offered.
            holdsForCellularCall = position.application != .suspended
            owesHold = false
            return nil
        case .takeMediaAway:
            // Also without a hold: resuming the media of the call must be offered.
            holdsForCellularCall = position.application != .suspended
            return nil
        case .offerResume:
            holdsForCellularCall = false
            return nil
        case .subscribe:
            owesSubscribe = false
            return nil
        case .reportLastKnownState:
            owesReport = false
            return nil
        case .rest, .giveUpOwnership, .resume:
            return ownershipAnswered(action, finding, at: now)
        case .prepareForBackground:
            guard case .preparation(_, let number) = question else { return nil }
            guard case .preparation(let preparation) = finding else {
                return prepared(.notReady([.unanswered("there was no answer")]), by: number)
            }
            return prepared(preparation, by: number)
        case .checkConnectivity:
            guard question == .connection else { return nil }
            guard case .connection(let check) = finding else { return checked(unknownCheck) }
            return checked(check)
        default:
            return nil
        }
    }

    private mutating func failed(_ action: ConnectivityAction, _ reason: String, at now: BootInstant) -> Step {
        switch action {
        case .reconnect, .openNewSocket, .register:
            return attemptFailed(at: now)
        case .refreshRegistration where position.connectivity == .connected && wake != nil:
            return connectionGone(
                "The refresh shows that the connection is gone; the rest of the time is for a new one.")
        case .processSocketData where position.connectivity == .connected && wake != nil:
            // The end of the connection on the kept socket counts as a wake by data.
            wake?.keepAliveEndsAt = nil
            return connectionGone("What woke it cannot be read; the rest of the time is for a new connection.")
        case .refreshRegistration:
            // The application has come to the foreground meanwhile, where every failed attempt is repeated.
            return attemptFailed(at: now)
        case .subscribe, .refreshSubscriptions, .restorePresence, .restoreHTTP:
            if action == .refreshSubscriptions { owesSubscribe = true }
            // In the foreground, a failed action is repeated.
            guard position == .foregroundConnected else { break }
            return attemptFailed(at: now)
        case .holdActiveCalls:
            owesHold = hasCellularCall
        case .giveUpLocks, .rest, .giveUpOwnership:
            let step = notGivenUp(reason)
            ownership = action == .giveUpOwnership ? .givenUp : .resting
            isOwnershipUncertain = true
            return step
        case .resume where wake != nil && activeCalls == 0:
            isOwnershipUncertain = true
            return dropWork("It could not resume: the work is left to the next wake.")
        case .prepareForBackground:
            guard case .preparation(_, let number) = question else { break }
            return prepared(.notReady([.unanswered(reason)]), by: number)
        case .checkConnectivity where question == .connection:
            return checked(unknownCheck)
        default:
            break
        }
        return Step(nil, "It could not be done; the next one follows.")
    }

    /// The status to assume when a check fails: a connection that cannot be checked is made again.
    private var unknownCheck: ConnectionStatus {
        position.connectivity == .connected ? .networkOnly : .noNetwork
    }

    private mutating func registered() -> Step? {
        isRegistered = true
        owesSubscribe = true
        backoff.reset()
        retryAt = nil
        let debt = position.application == .suspended ? [] : cellularDebt()
        if position.connectivity == .disconnected {
            // The second half of T15, after the result of its actions; a call may have woken the application meanwhile.
            position.connectivity = .connected
            let rest: [ConnectivityAction] =
                switch position.application {
                case .foreground: Array(actions(of: .t2).drop { $0 != .register }.dropFirst())
                case .background: Array(actions(of: .t4).drop { $0 != .register }.dropFirst())
                // Subscribe in the rest of this wake; if that fails, the next wake subscribes.
                case .suspended: [.subscribe]
                }
            return Step(.t15, "Registered on a new socket.", rest + debt)
        }
        if !debt.isEmpty { return Step(.t17, "What a cellular call had left to do.", debt) }
        let isMadeUpFor = position.application == .background && wake == nil && isOwed(.reportLastKnownState)
        return isMadeUpFor ? Step(.t4, "Registered: what the loss had left to do.") : nil
    }
}
