package import CoreAPI

/// The supervision of one Main: when it is started, woken, warned and killed (contract P6, P7, P8). A value: events and
/// the time in, directives out.
///
/// The time is that in which the keeper ran: the sleep of a machine counts against no Main.
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

/// How a Main is supervised.
package struct SupervisionOptions: Hashable, Sendable {
    package var restart = RestartPolicy()
    /// How long a Main that is awake may say nothing before it is killed; nil when it need not say anything.
    package var watchdog: Duration?
    /// How long a Main may run after it was woken by data, or started for it (contract P6).
    package var wakeBudget = Duration.seconds(10)
    /// How long after the wake it is told that the budget ends.
    package var wakeWarning = Duration.seconds(8)
    /// How long a Main that is asked to end may take.
    package var stopGrace = Duration.seconds(5)

    package init() {}
}

/// The state of the supervision of a Main.
package enum SupervisionState: Hashable, Sendable {
    /// Nothing has happened yet.
    case unbegun
    /// Main is down and stays so until a start is requested.
    case down
    /// Main has failed and is started at the instant.
    case waiting(until: BootInstant, since: BootInstant, hastened: Bool)
    /// Main runs.
    case running(since: BootInstant)
    /// Main was asked to end, and is killed at the instant.
    case ending(killAt: BootInstant?, then: Next)

    /// The step after the end of a Main that was asked to end.
    package enum Next: Hashable, Sendable {
        case stayDown
        case start(inForeground: Bool)
        case finish
    }

    /// Whether a process of Main is there.
    package var hasMain: Bool {
        switch self {
        case .running, .ending: true
        case .unbegun, .down, .waiting: false
        }
    }
}

/// The presence of a running Main, as it has reported it.
package enum MainPresence: Hashable, Sendable {
    /// It has no connection to its keeper.
    case silent
    /// It is in use.
    case awake
    /// It waits for a wake.
    case asleep
    /// It was woken, or started for data, and has until the limit.
    case woken(warnAt: BootInstant?, limit: BootInstant)
}
