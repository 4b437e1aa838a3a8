internal import CoreAPI
internal import Lifecycle

/// A connectivity machine with one protection taken out, which the judge has to notice.
package struct ConnectivityMutant: Sendable {
    /// The defect.
    package let name: String
    /// Changes the rules that it is made with.
    var changeRules: (@Sendable (inout ConnectivityRules) -> Void)?
    /// Changes an event for the machine; a nil result drops it.
    var changeEvent: (@Sendable (ConnectivityEvent) -> ConnectivityEvent?)?
    /// Changes the outcome of an action for the machine.
    var changeOutcome: (@Sendable (ConnectivityMachine.Outcome) -> ConnectivityMachine.Outcome)?
    /// Damages the machine before an event or the time reaches it.
    var damageBefore: (@Sendable (inout ConnectivityMachine) -> Void)?
    /// Damages the machine after a transition.
    var damageAfter: (@Sendable (inout ConnectivityMachine, ConnectivityTransition, BootInstant) -> Void)?

    init(_ name: String, _ damage: (inout ConnectivityMutant) -> Void) {
        self.name = name
        damage(&self)
    }

    /// A machine with a table that has other actions in a row.
    init(
        _ name: String, _ number: TransitionNumber,
        does change: @escaping @Sendable (inout [ConnectivityAction]) -> Void
    ) {
        self.init(name, row: number) { change(&$0.actions) }
    }

    /// A machine with a table that has another row.
    init(_ name: String, row number: TransitionNumber, _ change: @escaping @Sendable (inout TransitionRow) -> Void) {
        self.name = name
        changeRules = { change(&$0.table[number]) }
    }
}

extension ConnectivityMutant {
    package static let all: [ConnectivityMutant] = [
        ConnectivityMutant("does not hear of active calls") {
            $0.changeEvent = { $0 == .activeCallBegan ? nil : $0 }
        },
        ConnectivityMutant("does not hear that active calls end") {
            $0.changeEvent = { $0 == .activeCallEnded ? nil : $0 }
        },
        ConnectivityMutant("goes on with what was dropped") {
            $0.damageAfter = { machine, transition, _ in machine.pending = transition.dropped + machine.pending }
        },
        ConnectivityMutant("does the last thing first") {
            $0.damageAfter = { machine, _, _ in machine.pending.reverse() }
        },
        ConnectivityMutant("T6 keeps ownership and locks", .t6) {
            $0.removeAll { [.giveUpLocks, .rest, .giveUpOwnership].contains($0) }
        },
        ConnectivityMutant("T7 keeps ownership and locks", .t7) {
            $0.removeAll { [.giveUpLocks, .rest, .giveUpOwnership].contains($0) }
        },
        ConnectivityMutant("gives ownership up beside a holder") {
            $0.changeOutcome = { $0 == .done(.ownership(.resting)) ? .done(.ownership(.held)) : $0 }
        },
        ConnectivityMutant("keeps ownership without a holder") {
            $0.damageAfter = { machine, _, _ in machine.pending.removeAll { $0.action == .giveUpOwnership } }
        },
        ConnectivityMutant("T6 rests with a lock", .t6) { $0.removeAll { $0 == .giveUpLocks } },
        ConnectivityMutant("T7 rests with a lock", .t7) { $0.removeAll { $0 == .giveUpLocks } },
        ConnectivityMutant("T11 works before it has resumed", .t11) { $0.append($0.removeFirst()) },
        ConnectivityMutant("T12 works before it has resumed", .t12) { $0.append($0.removeFirst()) },
        ConnectivityMutant("T15 works before it has resumed", .t15) { $0.append($0.removeFirst()) },
        ConnectivityMutant("T16 does not resume", .t16) { $0.removeAll { $0 == .resume } },
        ConnectivityMutant("works where the rest was over") {
            $0.changeOutcome = { $0 == .done(.ownership(.lost)) ? .done(.ownership(.held)) : $0 }
        },
        ConnectivityMutant("works where it could not resume") {
            $0.damageAfter = { machine, transition, _ in
                guard case .failed(.resume, _) = transition.cause else { return }
                machine.pending = transition.dropped + machine.pending
            }
        },
        ConnectivityMutant("does not rest again after a keep-alive") {
            $0.damageAfter = { machine, _, _ in
                guard machine.wake?.number == .t12 || machine.wake?.number == .t15 else { return }
                machine.pending.removeAll { [.giveUpLocks, .rest, .giveUpOwnership].contains($0.action) }
            }
        },
        ConnectivityMutant("sleeps regardless of the answer") {
            $0.changeOutcome = { outcome in
                if case .done(.preparation) = outcome { .done(.preparation(.ready)) } else { outcome }
            }
        },
        ConnectivityMutant("T17 leaves the media", .t17) { $0.removeAll { $0 == .takeMediaAway } },
        ConnectivityMutant("leaves the media where there is no connection") {
            $0.damageAfter = { machine, transition, _ in
                guard transition.to.connectivity == .disconnected else { return }
                machine.pending.removeAll { $0.action == .takeMediaAway }
            }
        },
        ConnectivityMutant("T17 does not signal the hold", .t17) { $0.removeAll { $0 == .holdActiveCalls } },
        ConnectivityMutant("forgets what a cellular call left to do") {
            $0.damageAfter = { machine, _, _ in machine.holdsForCellularCall = machine.hasCellularCall }
        },
        ConnectivityMutant("tries again in the background") {
            $0.damageAfter = { machine, _, now in
                guard machine.position == .backgroundConnected, !machine.isRegistered else { return }
                machine.retryAt = machine.retryAt ?? now.advanced(by: .seconds(1))
            }
        },
        ConnectivityMutant("never tries again") { $0.damageAfter = { machine, _, _ in machine.retryAt = nil } },
        ConnectivityMutant("gives a wake 11 s") { $0.changeRules = { $0.budget = .seconds(11) } },
        ConnectivityMutant("leaves calls out of reach") {
            $0.damageAfter = { machine, _, _ in machine.owesReport = false }
        },
        ConnectivityMutant("forgets the subscriptions of a new socket") {
            $0.damageAfter = { machine, _, _ in
                if machine.position.application == .suspended { machine.owesSubscribe = false }
            }
        },
        ConnectivityMutant("asks for a whole interval after each wake") {
            $0.damageAfter = { machine, _, _ in machine.wakesBy = nil }
        },
        ConnectivityMutant("does not hear that the connection is gone") {
            $0.changeEvent = { $0 == .connectionLost ? nil : $0 }
        },
        ConnectivityMutant("makes no attempt when the connection is gone") {
            $0.damageAfter = { machine, transition, _ in
                guard transition.event == .connectionLost else { return }
                machine.pending.removeAll { $0.action.needsNetwork }
                machine.retryAt = nil
            }
        },
        ConnectivityMutant("makes up for no connection at a keep-alive in the background") {
            $0.damageAfter = { machine, transition, _ in
                guard transition.event == .keepAlive, transition.number == nil else { return }
                machine.pending.removeAll { $0.action == .reconnect }
            }
        },
        ConnectivityMutant("makes up for no subscription at a keep-alive in the background") {
            $0.damageAfter = { machine, transition, _ in
                guard transition.event == .keepAlive, transition.number == nil else { return }
                machine.pending.removeAll { $0.action == .subscribe }
            }
        },
        ConnectivityMutant("gives a keep-alive the time of the data that came into it") {
            $0.damageAfter = { machine, _, _ in machine.wake?.keepAliveEndsAt = nil }
        },
        ConnectivityMutant("cuts an active call off with the keep-alive") {
            $0.damageAfter = { machine, _, now in
                guard machine.activeCalls > 0, machine.wake?.keepAliveEndsAt == nil else { return }
                machine.wake?.keepAliveEndsAt = now.advanced(by: .seconds(1))
            }
        },
        ConnectivityMutant("cuts with the keep-alive what is made anew after a loss") {
            $0.damageAfter = { machine, transition, now in
                guard transition.event == .networkBack, machine.activeCalls == 0 else { return }
                machine.wake?.keepAliveEndsAt = now.advanced(by: .seconds(1))
            }
        },
        ConnectivityMutant("gives nothing back") {
            $0.damageAfter = { machine, _, _ in machine.pending.removeAll { $0.action == .mayOwnAgain } }
        },
        ConnectivityMutant("registers before it may own again") {
            $0.damageAfter = { machine, _, _ in
                let isBack = { (ordered: OrderedAction) in ordered.action == .mayOwnAgain }
                machine.pending = machine.pending.filter { !isBack($0) } + machine.pending.filter(isBack)
            }
        },
        ConnectivityMutant("does not resume for what keeps it awake") {
            $0.damageAfter = { machine, _, _ in
                if machine.wake == nil { machine.pending.removeAll { $0.action == .resume } }
            }
        },
        ConnectivityMutant("a suspension takes the time of a wake away") {
            $0.damageAfter = { machine, transition, _ in
                if transition.event?.kind == .suspendedBySystem, transition.number != nil { machine.wake = nil }
            }
        },
        ConnectivityMutant("has no time for what comes before it sleeps again") {
            $0.damageAfter = { machine, _, _ in
                if case .preparation = machine.question { machine.wake = nil }
            }
        },
        ConnectivityMutant("does not watch the time of a wake") {
            $0.damageAfter = { machine, _, _ in machine.wake = nil }
        },
        ConnectivityMutant("cuts active calls off") {
            $0.damageBefore = { machine in
                if machine.wake != nil { machine.activeCalls = 0 }
            }
        },
        ConnectivityMutant("T4 restores presence", .t4) { $0.append(.restorePresence) },
        ConnectivityMutant("T4 restores HTTP", .t4) { $0.append(.restoreHTTP) },
        ConnectivityMutant("T9 restores no HTTP", .t9) { $0.removeAll { $0 == .restoreHTTP } },
        ConnectivityMutant("T9 restores no presence", .t9) { $0.removeAll { $0 == .restorePresence } },
        ConnectivityMutant("T2 registers before it connects", .t2) { $0.swapAt(0, 1) },
        ConnectivityMutant("T16 does not check", .t16) { $0.removeAll { $0 == .checkConnectivity } },
        ConnectivityMutant("T12 is not listed", row: .t12) { $0.from = [] },
        ConnectivityMutant("T14 connects", row: .t14) { $0.connectivity = .connected },
        ConnectivityMutant("T18 comes back in the foreground", row: .t18) { $0.application = .foreground },
        ConnectivityMutant("T13 is not noted", row: .t13) { $0.connectivity = nil },
        ConnectivityMutant("T8 leaves the levels", .t8) { $0 = [] },
        ConnectivityMutant("T11 does not say how long", .t11) {
            $0.removeAll { if case .beginBudget = $0 { true } else { false } }
        },
    ]
}
