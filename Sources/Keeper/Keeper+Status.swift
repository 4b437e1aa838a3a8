internal import CoreAPI
internal import KeptSockets
internal import Lifecycle
internal import Platform

extension Keeper {
    var status: KeeperStatus {
        var status = KeeperStatus(keeper: ProcessIdentity.current.pid, state: machine.state.text)
        let now = clock.now()
        status.main = main?.pid
        if main != nil { status.presence = machine.presence.text }
        status.calls = machine.calls
        status.failures = machine.failures(at: now)
        status.starts = starts
        if case .waiting(let until, _, _) = machine.state { status.restartIn = now.duration(to: until) }
        if case .woken(_, let limit) = machine.presence, machine.calls == 0 {
            status.budgetLeft = now.duration(to: limit)
        }
        status.lastEnd = lastEnd
        status.kept = sockets.names
        return status
    }
}

extension SupervisionState {
    fileprivate var text: String {
        switch self {
        case .unbegun, .down: "down"
        case .waiting: "waiting"
        case .running: "running"
        case .ending: "ending"
        }
    }
}

extension MainPresence {
    fileprivate var text: String {
        switch self {
        case .silent: "silent"
        case .awake: "awake"
        case .asleep: "asleep"
        case .woken: "woken"
        }
    }
}
