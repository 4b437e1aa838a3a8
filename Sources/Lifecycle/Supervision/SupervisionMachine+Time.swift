package import CoreAPI

extension SupervisionMachine {
    /// When something is due next; nil when nothing is.
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

    /// Does what is due.
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

    /// An active call exempts from the watchdog; a Main that sleeps has nothing to say.
    private var watchdogTime: BootInstant? {
        calls == 0 && presence != .asleep ? aliveUntil : nil
    }

    /// An active call exempts from the budget (contract P6).
    private var budgetTimes: (warnAt: BootInstant?, limit: BootInstant)? {
        guard calls == 0, case .woken(let warnAt, let limit) = presence else { return nil }
        return (warnAt, limit)
    }
}
