internal import CoreAPI

extension SupervisionMachine {
    /// Main runs from now on, and has said nothing yet.
    mutating func run(at now: BootInstant) {
        state = .running(since: now)
        presence = .silent
        calls = 0
        killing = nil
        isLeaving = false
        isStartedForData = false
        live(at: now)
    }

    mutating func start(inBackground: Bool, forData: Bool = false, at now: BootInstant) -> [SupervisionDirective] {
        run(at: now)
        isStartedForData = forData
        return [.remember(isClosed: false), .start(inBackground: inBackground)]
    }

    /// Main has said something of itself.
    mutating func heard(_ event: SupervisionEvent, at now: BootInstant) {
        switch event {
        case .connected:
            // Its calls are those of which it spoke last, until it speaks of them: none is cut for a lost connection. A
            // budget that runs is not escaped by connecting anew.
            if isStartedForData {
                beginBudget(at: now)
            } else if !hasBudget {
                presence = .awake
            }
            isStartedForData = false
        case .disconnected:
            // What it last said of calls and of its wake still holds: its process is there.
            if !hasBudget { presence = .silent }
        case .fellAsleep: presence = .asleep
        case .awoke: presence = .awake
        case .calls(let count):
            // After a call the budget begins anew: it was not what the time was spent on.
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

    /// Main has given a sign of life.
    private mutating func live(at now: BootInstant) {
        aliveUntil = options.watchdog.map { now.advanced(by: $0) }
    }
}
