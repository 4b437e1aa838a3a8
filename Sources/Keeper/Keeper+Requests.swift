internal import CoreAPI
internal import KeptSockets
internal import Lifecycle
internal import Platform

extension Keeper {
    func answer(_ request: KeeperRequest, with file: OpenFile?, to visitor: Visitor) {
        do throws(KeeperProblem) {
            switch request {
            case .hello, .keep, .release, .take, .asleep, .awake, .alive, .calls, .leaving:
                try answerMain(request, with: file, to: visitor)
            case .woken(let pid, let startTime):
                // A wake for an earlier Main does not apply to this one.
                guard let main = main?.handle.identity, main.pid == pid, main.startTime == startTime else {
                    throw KeeperProblem(.notMain, "process \(pid) is not the Main of this keeper")
                }
                visitor.send(.done)
                happen(.holderWoke)
            case .status: visitor.send(.status(status))
            case .start, .stop, .quit, .configure:
                // Answer before ending, because the keeper cannot answer afterwards.
                visitor.send(.done)
                command(request)
            }
        } catch {
            visitor.send(.refused(error))
        }
    }

    private func command(_ request: KeeperRequest) {
        switch request {
        case .start(let inForeground): happen(.startWanted(inForeground: inForeground))
        case .stop: happen(.stopWanted)
        case .quit: happen(.quitWanted)
        case .configure(let configuration):
            self.configuration = configuration
            machine.options = configuration.options
        default: break
        }
    }

    private func answerMain(
        _ request: KeeperRequest, with file: OpenFile?, to visitor: Visitor
    ) throws(KeeperProblem) {
        if request == .hello {
            try welcome(visitor)
            return
        }
        guard visitor === mainVisitor else { throw KeeperProblem(.notMain, "say HELLO first") }
        switch request {
        case .keep(let name):
            guard let file else { throw KeeperProblem(.noSocket, "a socket must come with the message") }
            try sockets.keep(file, as: name)
        case .release(let name):
            guard sockets.release(name) else { throw KeeperProblem(.unknown, "no such socket is kept") }
        case .take:
            for name in sockets.names { visitor.send(.kept(name: name), with: sockets.file(name)) }
        default: break
        }
        // The answer is sent before the event is handled, so that a wake that follows a sleep comes after it.
        visitor.send(.done)
        if let event = request.event { happen(event) }
    }

    private func welcome(_ visitor: Visitor) throws(KeeperProblem) {
        guard machine.state.hasMain else { throw KeeperProblem(.notMain, "this keeper has started no Main") }
        if let other = mainVisitor, other !== visitor {
            // The client may have disconnected before it was checked.
            serve(other)
            guard other.isGone else { throw KeeperProblem(.busy, "another process is connected as Main") }
        }
        mainVisitor = visitor
        visitor.send(.done)
        happen(.connected)
    }
}

extension KeeperRequest {
    /// The event of this request for the supervision.
    fileprivate var event: SupervisionEvent? {
        switch self {
        case .asleep: .fellAsleep
        case .awake: .awoke
        case .alive: .saidAlive
        case .calls(let count): .calls(count)
        case .leaving: .saidLeaving
        default: nil
        }
    }
}

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
