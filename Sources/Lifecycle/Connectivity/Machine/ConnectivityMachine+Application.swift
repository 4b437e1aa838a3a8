internal import CoreAPI

/// The application goes to the background, to sleep and to the foreground.
extension ConnectivityMachine {
    /// Handles the application's step into the background: transitions T3 and T8.
    mutating func toBackground(_ row: TransitionRow?) -> Step {
        guard let row else { return .unlisted() }
        go(by: row)
        var step = Step(row.number, row.sentence, actions(of: row.number))
        retryAt = nil
        if isAttempting {
            // Drop work that needs the network and set the levels first: an attempt to connect that began in the
            // foreground continues as one of the background.
            drop(into: &step) { $0.needsNetwork }
            step.actions +=
                position.connectivity == .connected
                ? actions(of: .t4) : actions(of: .t15).filter(\.needsNetwork)
        } else {
            drop(into: &step) { $0 == .restorePresence || $0 == .restoreHTTP }
        }
        return step
    }

    /// Handles the application's step into the foreground: transitions T9, T10 and T16.
    mutating func toForeground(_ row: TransitionRow?) -> Step {
        guard let row else { return .unlisted() }
        go(by: row)
        var step = Step(row.number, row.sentence, wake == nil ? [] : [.endBudget])
        wake = nil
        postponed = nil
        forgetSuspension(&step)
        switch row.number {
        case .t16:
            drop(into: &step) { $0.needsNetwork }
            question = .connection
            step.actions += actions(of: .t16)
        case .t9 where question == .connection:
            // The result of the check decides the rest.
            step.actions += actions(of: .t10)
        case .t9 where !isRegistered:
            drop(into: &step) { $0.needsNetwork }
            backoff.reset()
            step.actions += actions(of: .t10) + actions(of: .t2)
            step.reason = "The connection had not been made again: everything is restored, as in T2."
        default:
            step.actions += actions(of: row.number)
        }
        return step
    }

    /// Handles the order of the system to suspend: transitions T6 and T7.
    mutating func suspend(_ row: TransitionRow?, for interval: Duration, at now: BootInstant) -> Step {
        guard let row else { return .unlisted() }
        self.interval = interval
        if activeCalls > 0 {
            postponed = interval
            return Step(row.number, "An active call keeps the application awake: this waits for its end.")
        }
        if case .preparation = question { return Step(row.number, "The same question is being asked already.") }
        if wake != nil { return Step(row.number, "A wake is under way: it sleeps when that is over.") }
        return fallAsleep(by: row.number, at: now, row.sentence)
    }

    /// Begins a suspension: checks first if there are registrations to lose, sleeps at once if there are none.
    mutating func fallAsleep(by number: TransitionNumber, at now: BootInstant, _ reason: String) -> Step {
        let left = timeAsleep(at: now)
        var step = Step(number, reason)
        postponed = nil
        retryAt = nil
        question = nil
        drop(into: &step) { $0.needsNetwork }
        if position.connectivity == .connected {
            question = .preparation(interval: left, number: number)
            step.actions += actions(of: .t6).map { action in
                if case .prepareForBackground = action { .prepareForBackground(interval: left) } else { action }
            }
        } else {
            sleep()
            // During a wake, do not allow the suspension here: the end of the wake allows it, when no lock or ownership
            // is held any more.
            step.actions += actions(of: .t7).filter { wake == nil || $0 != .allowSuspension }
        }
        return step
    }

    /// Records the longest sleep of the application.
    mutating func noteInterval(_ event: ConnectivityEvent, isListed: Bool, at now: BootInstant) {
        switch event {
        case .suspendedBySystem(let interval) where isListed: wakesBy = now.advanced(by: interval)
        case .keepAlive where wakesBy != nil: wakesBy = now.advanced(by: interval)
        default: break
        }
    }

    /// Returns how long the application sleeps from now on: a wake in between does not postpone the keep-alive.
    private func timeAsleep(at now: BootInstant) -> Duration {
        guard let wakesBy, wakesBy > now else { return interval }
        return now.duration(to: wakesBy)
    }

    /// Continues a suspension when it is known whether the registrations survive it.
    mutating func prepared(_ preparation: BackgroundPreparation, by number: TransitionNumber) -> Step {
        question = nil
        var warning: [ConnectivityAction] = []
        if case .notReady(let obstacles) = preparation {
            guard rules.unprepared == .warn else {
                let end: [ConnectivityAction] = wake == nil ? [] : [.endBudget]
                wake = nil
                return Step(
                    number, "The registrations would not survive: the application stays awake.",
                    end + [.stayAwake(obstacles)])
            }
            warning = [.warn(obstacles)]
        }
        sleep()
        let isConnected = position.connectivity == .connected
        var step = Step(
            isConnected ? number : .t7,
            warning.isEmpty ? "The registrations survive." : "The registrations lapse, and the user is warned.",
            // During a wake, do not allow the suspension here: the end of the wake allows it when its work is done.
            warning + (isConnected ? [] : [.relyOnKeepAlive]) + (wake == nil ? [.allowSuspension] : []))
        drop(into: &step) { $0.needsNetwork }
        return step
    }

    /// Keeps the application awake because locks or the ownership could not be released: a suspended application must
    /// not hold them.
    mutating func notGivenUp(_ reason: String) -> Step {
        var step = Step(nil, "Locks or ownership could not be released: the application stays awake.")
        forgetSuspension(&step)
        if position.application == .suspended { position.application = .background }
        if wake != nil { step.actions.append(.endBudget) }
        wake = nil
        step.actions.append(.stayAwake([.notGivenUp(reason)]))
        return step
    }

    /// Records that the application is suspended. It has no call any more that could be held or resumed.
    mutating func sleep() {
        position.application = .suspended
        holdsForCellularCall = false
        owesHold = false
    }

    /// Cancels a suspension in progress.
    mutating func forgetSuspension(_ step: inout Step) {
        // A pending `stopWork` would interrupt work that must continue now, so replace it by the end of the wake's
        // budget.
        pending = pending.map { $0.action == .stopWork ? OrderedAction(number: $0.number, action: .endBudget) : $0 }
        if case .preparation = question { question = nil }
        drop(into: &step) { action in
            switch action {
            case .giveUpLocks, .rest, .giveUpOwnership, .prepareForBackground, .allowSuspension, .relyOnKeepAlive: true
            default: false
            }
        }
    }
}
