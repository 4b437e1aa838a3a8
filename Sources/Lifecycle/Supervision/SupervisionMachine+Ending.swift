internal import CoreAPI

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
            // The keeper's own end stands above what else was wanted.
            if before != .finish { state = .ending(killAt: killAt, then: next) }
            return next == .finish ? [] : [.remember(isClosed: true)]
        case .unbegun, .down, .waiting:
            state = .down
            return next == .finish ? [.finish] : [.remember(isClosed: true), .letSocketsGo]
        }
    }

    mutating func ended(_ end: MainEndReason, at now: BootInstant) -> [SupervisionDirective] {
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
