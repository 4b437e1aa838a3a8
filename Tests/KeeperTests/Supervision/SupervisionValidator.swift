internal import CoreAPI
internal import Lifecycle

/// The expected treatment of a Main, derived from the events and the actions alone.
///
/// It keeps an account of its own of P6, P7 and P8, and repeats their figures.
struct SupervisionValidator {
    private(set) var problems: [String] = []

    private(set) var isUp = false
    private(set) var isDown = false
    private(set) var isAsleep = false
    private(set) var calls = 0
    private var startedAt = at(0)
    private var endedAt = at(0)
    private var failures = 0
    private var restarts: [BootInstant] = []
    /// Since when data has been waiting for a Main that failed.
    private var hastenedAt: BootInstant?
    private var isStartWanted = false
    private var isStopping = false
    private var isDying = false
    private var isForData = false
    private var isRemembered = false
    private var keepsSockets = false
    private(set) var warnAt: BootInstant?
    private(set) var limit: BootInstant?
    private var silentUntil: BootInstant?
    private var killAt: BootInstant?
    /// When its holder has woken it while it did not sleep.
    private var wokenEarlyAt: BootInstant?

    static let window = Duration.seconds(600)
    static let restartLimit = 6

    /// Validates that all due actions were done by now.
    mutating func judgeTime(_ now: BootInstant) {
        if let killAt, killAt < now { problems.append("a Main that was asked to end was not killed") }
        if isUp, !isDying, !isStopping, calls == 0 {
            if let limit, limit < now { problems.append("a Main was not killed at its limit") }
            if let warnAt, warnAt < now { problems.append("a Main was not warned") }
            if !isAsleep, let silentUntil, silentUntil < now { problems.append("a silent Main was not killed") }
        }
        if !isUp, !isDown, restartTime < now { problems.append("a Main that failed was not started") }
    }

    mutating func judge(watching: Bool) {
        let should = isUp ? isAsleep && !isStopping : !isDown
        if watching != should { problems.append("sockets are \(watching ? "" : "not ")watched") }
    }

    /// Takes in an event and the machine's answer to it.
    mutating func judge(_ event: SupervisionEvent, _ said: [SupervisionDirective], at now: BootInstant) {
        var expected = before(event, at: now)
        for directive in said {
            switch directive {
            case .start(let inBackground): started(inBackground: inBackground, at: now)
            case .kill(let reason): killed(reason, at: now)
            case .warn(let left):
                if warnAt != now || calls > 0 || left != .seconds(2) { problems.append("a warning out of place") }
                warnAt = nil
            case .wake(let budget):
                if budget != .seconds(10) { problems.append("a wrong budget") }
                remove(.wake(budget: budget), from: &expected)
            case .tellBudget(let budget):
                if budget != .seconds(10) { problems.append("a wrong budget") }
                remove(.tellBudget(budget), from: &expected)
            case .remember(let isClosed): isRemembered = isClosed
            case .letSocketsGo: keepsSockets = false
            case .terminate: remove(.terminate, from: &expected)
            case .finish: problems.append("a finish that nobody wanted")
            }
        }
        problems += expected.map { "missing: \($0)" }
        if isDown, !isRemembered { problems.append("a Main that is to stay down is not remembered so") }
        if isDown, keepsSockets { problems.append("sockets of a Main that stays down are kept") }
        if isUp, !isStopping, isRemembered { problems.append("a Main that runs is remembered as closed") }
    }

    private mutating func remove(_ directive: SupervisionDirective, from expected: inout [SupervisionDirective]) {
        if let index = expected.firstIndex(of: directive) {
            expected.remove(at: index)
        } else {
            problems.append("\(directive) out of place")
        }
    }

    private mutating func before(_ event: SupervisionEvent, at now: BootInstant) -> [SupervisionDirective] {
        var expected: [SupervisionDirective] = []
        switch event {
        case .begun, .adopted, .quitWanted, .saidLeaving, .timePassed: break
        case .ended(let end): ended(end, at: now)
        case .startWanted:
            if !isUp || isStopping { isStartWanted = true }
            if !isUp { isDown = false }
        case .stopWanted:
            isStartWanted = false
            if isUp, !isStopping {
                isStopping = true
                killAt = now.advanced(by: .seconds(5))
                expected.append(.terminate)
            } else if !isUp {
                isDown = true
            }
        case .connected:
            if isForData { wake(at: now) }
            (isForData, isAsleep) = (false, false)
        case .disconnected: isAsleep = false
        case .fellAsleep:
            (isAsleep, warnAt, limit) = (true, nil, nil)
            if let woken = wokenEarlyAt, !isStopping, woken.duration(to: now) < .seconds(10) {
                expected.append(.tellBudget(.seconds(10)))
                wake(at: now)
            }
            wokenEarlyAt = nil
        case .awoke: (isAsleep, warnAt, limit, wokenEarlyAt) = (false, nil, nil, nil)
        case .saidAlive: break
        case .calls(let count):
            if count == 0, calls > 0, limit != nil { wake(at: now) }
            calls = count
        case .dataCame:
            if isUp, isAsleep, !isStopping {
                expected.append(.wake(budget: .seconds(10)))
                wake(at: now)
            } else if !isUp, !isDown {
                hastenedAt = hastenedAt ?? now
            }
        case .holderWoke:
            if isUp, isAsleep, !isStopping {
                expected.append(.tellBudget(.seconds(10)))
                wake(at: now)
            } else if isUp, !isStopping {
                wokenEarlyAt = now
            }
        }
        if isUp { silentUntil = event == .timePassed || event == .stopWanted ? silentUntil : speak(event, at: now) }
        return expected
    }

    /// The time until which the machine must act, after an action of its own or a wake.
    private func speak(_ event: SupervisionEvent, at now: BootInstant) -> BootInstant? {
        if case .startWanted = event { return silentUntil }
        if event == .dataCame || event == .holderWoke, warnAt != now.advanced(by: .seconds(8)) { return silentUntil }
        return now.advanced(by: .seconds(30))
    }

    private mutating func wake(at now: BootInstant) {
        isAsleep = false
        warnAt = now.advanced(by: .seconds(8))
        limit = now.advanced(by: .seconds(10))
    }

    private mutating func ended(_ end: MainProcessEnd, at now: BootInstant) {
        isUp = false
        endedAt = now
        hastenedAt = nil
        defer { (isStopping, isDying, isAsleep, calls, killAt) = (false, false, false, 0, nil) }
        if isStopping || end == .exited(status: 0) && !isDying {
            isDown = !isStartWanted
            return
        }
        failures = startedAt.duration(to: now) >= .seconds(60) ? 1 : failures + 1
    }

    /// When a Main that failed must be back.
    private var restartTime: BootInstant {
        let delays = [0, 0, 1, 2, 4]
        var delay = delays[min(failures, 4)]
        if hastenedAt != nil { delay = min(delay, 1) }
        let time = max(endedAt.advanced(by: .seconds(delay)), hastenedAt ?? endedAt)
        guard restarts.count >= Self.restartLimit else { return time }
        return max(time, restarts[restarts.count - Self.restartLimit].advanced(by: Self.window))
    }

    private mutating func started(inBackground: Bool, at now: BootInstant) {
        if isUp { problems.append("a second Main") }
        if isDown { problems.append("a Main was started that is to stay down") }
        if isStartWanted {
            if inBackground { problems.append("a user's Main has no user interface") }
            (failures, restarts) = (0, [])
        } else {
            if !inBackground { problems.append("a restart has a user interface") }
            if now != restartTime { problems.append("a restart at the wrong time") }
            restarts.append(now)
        }
        isForData = hastenedAt != nil && !isStartWanted
        (isUp, isStartWanted, hastenedAt, keepsSockets) = (true, false, nil, true)
        (startedAt, warnAt, limit, wokenEarlyAt) = (now, nil, nil, nil)
        silentUntil = now.advanced(by: .seconds(30))
    }

    private mutating func killed(_ reason: KillReason, at now: BootInstant) {
        let isRight =
            switch reason {
            case .budget: limit == now && calls == 0
            case .watchdog: silentUntil == now && calls == 0 && !isAsleep
            case .stop: killAt == now
            }
        // A Main that is ending may be asked to end, and is killed once more if it has not ended.
        if !isRight || isDying && reason != .stop { problems.append("a kill (\(reason)) out of place") }
        if reason == .stop { killAt = nil }
        isDying = true
    }
}
