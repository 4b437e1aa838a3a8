package import CoreAPI

/// The supervision of one Main: when it is started, woken, warned and killed (contract P6, P7, P8). A value: events and
/// the time in, directives out.
///
/// The time is the keeper's running time: the sleep of a machine does not count.
package struct SupervisionMachine: Hashable, Sendable {
    package var options: SupervisionOptions {
        didSet { restarts.policy = options.restart }
    }
    package internal(set) var state = SupervisionState.unbegun
    package internal(set) var presence = MainPresence.silent
    /// The number of calls that are active in Main.
    package internal(set) var calls = 0
    package internal(set) var restarts: Restarts
    /// The reason why the running Main is being killed; nil if it is not. Main is killed only once.
    package internal(set) var killing: KillReason?

    /// True if Main was started for waiting data, so that it gets a budget as soon as it connects.
    var isStartedForData = false
    /// The time until which Main must report that it is alive.
    var aliveUntil: BootInstant?
    /// True after Main has reported that its user closes it.
    var isLeaving = false
    /// When the holder woke Main before Main had reported its sleep to the keeper; nil if that has not happened.
    var wokenEarlyAt: BootInstant?

    package init(_ options: SupervisionOptions) {
        self.options = options
        restarts = Restarts(policy: options.restart)
    }

    /// True while kept sockets are watched: only while Main is away (contract P7).
    package var watchesSockets: Bool {
        switch state {
        case .waiting: true
        case .running: presence == .asleep
        case .unbegun, .down, .ending: false
        }
    }

    /// Returns the number of failures of Main in a row; zero after it has run stably for a while.
    package func failures(at now: BootInstant) -> Int {
        if case .running(let since) = state, since.duration(to: now) >= options.restart.steadyAfter { return 0 }
        return restarts.failures
    }

    /// Handles an event, then performs due steps.
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
            return event == .fellAsleep ? wakeAgain(at: now) : []
        case .dataCame: return dataCame(at: now)
        case .holderWoke:
            guard case .running = state else { return [] }
            guard presence == .asleep else {
                wokenEarlyAt = now
                return []
            }
            beginBudget(at: now)
            return [.tellBudget(options.wakeBudget)]
        case .timePassed: return []
        }
    }

    /// Begins the budget of a Main that its holder woke before Main reported its sleep. Ignores a wake that is older
    /// than a budget, because the holder has given the core up by then.
    private mutating func wakeAgain(at now: BootInstant) -> [SupervisionDirective] {
        guard let wokenAt = wokenEarlyAt else { return [] }
        wokenEarlyAt = nil
        guard case .running = state, wokenAt.duration(to: now) < options.wakeBudget else { return [] }
        beginBudget(at: now)
        return [.tellBudget(options.wakeBudget)]
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

/// The options of the supervision of a Main.
package struct SupervisionOptions: Hashable, Sendable {
    package var restart = RestartPolicy()
    /// The time for which an awake Main may be silent before it is killed; nil for no watchdog.
    package var watchdog: Duration?
    /// The time that a Main may run after it was woken, or started for data (contract P6).
    package var wakeBudget = Duration.seconds(10)
    /// The time from the wake to the warning that the budget ends.
    package var wakeWarning = Duration.seconds(8)
    /// How long Main may take to end after it was asked to.
    package var stopGrace = Duration.seconds(5)

    package init() {}
}

/// The state of the supervision of a Main.
package enum SupervisionState: Hashable, Sendable {
    /// Nothing has happened yet.
    case unbegun
    /// Main is down and stays so until a start is requested.
    case down
    /// Main has failed and is restarted at the instant.
    case waiting(until: BootInstant, since: BootInstant, hastened: Bool)
    /// Main runs.
    case running(since: BootInstant)
    /// Main was asked to end, and is killed at the instant.
    case ending(killAt: BootInstant?, then: Next)

    /// The step after the requested end of Main.
    package enum Next: Hashable, Sendable {
        case stayDown
        case start(inForeground: Bool)
        case finish
    }

    /// True if there is a process of Main.
    package var hasMain: Bool {
        switch self {
        case .running, .ending: true
        case .unbegun, .down, .waiting: false
        }
    }
}

/// The presence of a running Main, as it has reported it.
package enum MainPresence: Hashable, Sendable {
    /// Main has no connection to its keeper.
    case silent
    /// Main is in use.
    case awake
    /// Main waits for a wake.
    case asleep
    /// Main was woken by data or by its holder, or started for data, and may run until the limit.
    case woken(warnAt: BootInstant?, limit: BootInstant)
}

extension SupervisionMachine {
    /// Records the start of Main, which has reported nothing yet.
    mutating func run(at now: BootInstant) {
        state = .running(since: now)
        presence = .silent
        calls = 0
        killing = nil
        isLeaving = false
        isStartedForData = false
        wokenEarlyAt = nil
        live(at: now)
    }

    mutating func start(inBackground: Bool, forData: Bool = false, at now: BootInstant) -> [SupervisionDirective] {
        run(at: now)
        isStartedForData = forData
        return [.remember(isClosed: false), .start(inBackground: inBackground)]
    }

    /// Handles a report of Main.
    mutating func heard(_ event: SupervisionEvent, at now: BootInstant) {
        switch event {
        case .connected:
            // The last report of calls is valid until the next one, because a lost connection ends no call. A new
            // connection does not stop a running budget.
            if isStartedForData {
                beginBudget(at: now)
            } else if !hasBudget {
                presence = .awake
            }
            isStartedForData = false
        case .disconnected:
            // The process still runs, so its last reports of calls and of its wake remain valid.
            if !hasBudget { presence = .silent }
        case .fellAsleep: presence = .asleep
        case .awoke:
            presence = .awake
            wokenEarlyAt = nil
        case .calls(let count):
            // The budget starts again after a call, because the time passed during the call.
            if count == 0, calls > 0, hasBudget { beginBudget(at: now) }
            calls = max(0, count)
        case .saidLeaving: isLeaving = true
        default: break
        }
        live(at: now)
    }

    private var hasBudget: Bool {
        if case .woken = presence { true } else { false }
    }

    mutating func beginBudget(at now: BootInstant) {
        presence = .woken(
            warnAt: now.advanced(by: options.wakeWarning), limit: now.advanced(by: options.wakeBudget))
        live(at: now)
    }

    /// Records that Main has reported that it is alive.
    private mutating func live(at now: BootInstant) {
        aliveUntil = options.watchdog.map { now.advanced(by: $0) }
    }
}

extension SupervisionMachine {
    /// The time of the next due step; nil if there is none.
    package var nextTime: BootInstant? {
        switch state {
        case .unbegun, .down: nil
        case .waiting(let until, _, _): until
        case .ending(let killAt, _): killAt
        case .running: killing == nil ? [watchdogTime, budgetTime].compactMap { $0 }.min() : nil
        }
    }

    private var budgetTime: BootInstant? {
        budgetTimes.map { $0.warnAt ?? $0.limit }
    }

    /// Performs the due steps.
    mutating func due(at now: BootInstant) -> [SupervisionDirective] {
        switch state {
        case .unbegun, .down: return []
        case .waiting(let until, _, let hastened):
            guard until <= now else { return [] }
            restarts.restarted(at: now)
            return start(inBackground: true, forData: hastened, at: now)
        case .ending(let killAt?, let next):
            guard killAt <= now else { return [] }
            state = .ending(killAt: nil, then: next)
            return kill(.stop)
        case .ending(nil, _): return []
        case .running: return dueWhileRunning(at: now)
        }
    }

    private mutating func dueWhileRunning(at now: BootInstant) -> [SupervisionDirective] {
        guard killing == nil else { return [] }
        if let watchdogTime, watchdogTime <= now { return kill(.watchdog) }
        guard let budget = budgetTimes else { return [] }
        if budget.limit <= now { return kill(.budget) }
        guard let warnAt = budget.warnAt, warnAt <= now else { return [] }
        presence = .woken(warnAt: nil, limit: budget.limit)
        return [.warn(left: now.duration(to: budget.limit))]
    }

    private mutating func kill(_ reason: KillReason) -> [SupervisionDirective] {
        killing = reason
        return [.kill(reason)]
    }

    /// The watchdog's deadline; nil during an active call and while Main sleeps.
    private var watchdogTime: BootInstant? {
        calls == 0 && presence != .asleep ? aliveUntil : nil
    }

    /// The times of the budget; nil during an active call (contract P6).
    private var budgetTimes: (warnAt: BootInstant?, limit: BootInstant)? {
        guard calls == 0, case .woken(let warnAt, let limit) = presence else { return nil }
        return (warnAt, limit)
    }
}

extension SupervisionMachine {
    mutating func startWanted(inForeground: Bool, at now: BootInstant) -> [SupervisionDirective] {
        switch state {
        case .running: return []
        case .ending(let killAt, .stayDown):
            state = .ending(killAt: killAt, then: .start(inForeground: inForeground))
            return []
        case .ending: return []
        case .unbegun, .down, .waiting:
            restarts.forget()
            return start(inBackground: !inForeground, at: now)
        }
    }

    mutating func endWanted(then next: SupervisionState.Next, at now: BootInstant) -> [SupervisionDirective] {
        switch state {
        case .running:
            state = .ending(killAt: now.advanced(by: options.stopGrace), then: next)
            return next == .finish ? [.terminate] : [.remember(isClosed: true), .terminate]
        case .ending(let killAt, let before):
            // If the keeper itself must end, no other goal replaces that one.
            if before != .finish { state = .ending(killAt: killAt, then: next) }
            return next == .finish ? [] : [.remember(isClosed: true)]
        case .unbegun, .down, .waiting:
            state = .down
            return next == .finish ? [.finish] : [.remember(isClosed: true), .letSocketsGo]
        }
    }

    mutating func ended(_ end: MainProcessEnd, at now: BootInstant) -> [SupervisionDirective] {
        let before = state
        presence = .silent
        calls = 0
        switch before {
        case .running(let since):
            if killing == nil, end.isClosing || end == .unseen && isLeaving {
                state = .down
                return [.remember(isClosed: true), .letSocketsGo]
            }
            restarts.failed(after: since.duration(to: now))
            state = .waiting(
                until: restarts.time(afterEndAt: now, hastened: false), since: now, hastened: false)
            return []
        case .ending(_, .stayDown):
            state = .down
            return [.letSocketsGo]
        case .ending(_, .start(let inForeground)):
            restarts.forget()
            return start(inBackground: !inForeground, at: now)
        case .ending(_, .finish):
            state = .down
            return [.finish]
        case .unbegun, .down, .waiting: return []
        }
    }
}
