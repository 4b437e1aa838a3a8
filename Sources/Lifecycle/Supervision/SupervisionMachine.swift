package import CoreAPI

/// The supervision of one Main: when it is started, woken, warned and killed (contract P6, P7, P8). A value: events and
/// the time in, directives out.
///
/// The time is that in which the keeper ran: nobody is judged for what a machine slept.
package struct SupervisionMachine: Hashable, Sendable {
    package var options: SupervisionOptions {
        didSet { restarts.policy = options.restart }
    }
    package internal(set) var state = SupervisionState.unbegun
    package internal(set) var presence = MainPresence.silent
    /// How many calls are active in Main.
    package internal(set) var calls = 0
    package internal(set) var restarts: Restarts
    /// Why the running Main is being killed; it dies once.
    package internal(set) var killing: KillReason?

    /// Main runs since it was started for data that waits, so that it gets a budget as soon as it is there.
    var isStartedForData = false
    /// Until when Main must have said that it lives.
    var aliveUntil: BootInstant?
    /// Main has said that its user closes it.
    var isLeaving = false

    package init(_ options: SupervisionOptions) {
        self.options = options
        restarts = Restarts(policy: options.restart)
    }

    /// Whether kept sockets are watched: only while Main is away (contract P7).
    package var watchesSockets: Bool {
        switch state {
        case .waiting: true
        case .running: presence == .asleep
        case .unbegun, .down, .ending: false
        }
    }

    /// How many times in a row Main has failed; none once it has run well for a while.
    package func failures(at now: BootInstant) -> Int {
        if case .running(let since) = state, since.duration(to: now) >= options.restart.steadyAfter { return 0 }
        return restarts.failures
    }

    /// Takes an event, then does what is due.
    package mutating func handle(_ event: SupervisionEvent, at now: BootInstant) -> [SupervisionDirective] {
        take(event, at: now) + due(at: now)
    }

    private mutating func take(_ event: SupervisionEvent, at now: BootInstant) -> [SupervisionDirective] {
        switch event {
        case .begun(let isClosed):
            guard state == .unbegun else { return [] }
            if isClosed {
                state = .down
                return []
            }
            return start(inBackground: true, at: now)
        case .adopted:
            run(at: now)
            return []
        case .ended(let end): return ended(end, at: now)
        case .startWanted(let inForeground): return startWanted(inForeground: inForeground, at: now)
        case .stopWanted: return endWanted(then: .stayDown, at: now)
        case .quitWanted: return endWanted(then: .finish, at: now)
        case .connected, .disconnected, .fellAsleep, .awoke, .saidAlive, .calls, .saidLeaving:
            guard state.hasMain else { return [] }
            heard(event, at: now)
            return []
        case .dataCame: return dataCame(at: now)
        case .timePassed: return []
        }
    }

    private mutating func dataCame(at now: BootInstant) -> [SupervisionDirective] {
        switch state {
        case .waiting(_, let since, _):
            state = .waiting(
                until: restarts.time(afterEndAt: since, hastened: true), since: since, hastened: true)
            return []
        case .running where presence == .asleep:
            beginBudget(at: now)
            return [.wake(budget: options.wakeBudget)]
        case .unbegun, .down, .running, .ending: return []
        }
    }
}
