internal import CoreAPI
internal import KeptSockets
internal import Lifecycle
internal import Platform

extension Keeper {
    /// Takes over a Main that another keeper has started, if there is one.
    ///
    /// - Returns: True if there is one.
    func adopt() -> Bool {
        guard let found = MainProcess(thatIsThereAt: seat.place) else { return false }
        main = found
        log("Main (pid \(found.pid)) was there already")
        happen(.adopted)
        return true
    }

    func mainEnded() {
        guard let ended = main else { return }
        // Handle the last messages of the Main, for example a socket to keep, or that its user closes it.
        if let visitor = mainVisitor { serve(visitor, upTo: Self.lastWords) }
        main = nil
        if let visitor = mainVisitor {
            mainVisitor = nil
            visitors.removeAll { $0 === visitor }
        }
        let end = ended.end()
        // Another Main has the lock: supervise that one.
        if end == .exited(status: MainStart.taken), adopt() { return }
        lastEnd = end.text + (machine.killing.map { " \($0.rawValue)" } ?? "")
        log("Main (pid \(ended.pid)) has ended: \(lastEnd ?? "")")
        happen(.ended(end))
    }

    func perform(_ directive: SupervisionDirective) {
        switch directive {
        case .start(let inBackground): start(inBackground: inBackground)
        case .terminate: signal(.terminate)
        case .kill(let reason):
            log("Main is killed: \(reason.rawValue)")
            signal(.kill)
        case .wake(let budget): mainVisitor?.send(.wake(budget: budget))
        case .tellBudget(let budget): mainVisitor?.send(.woken(budget: budget))
        case .warn(let left): mainVisitor?.send(.ending(left: left))
        case .remember(let isClosed):
            do throws(SystemCallError) {
                try memory.remember(isClosed: isClosed)
            } catch {
                log("what is to be remembered of Main was not written: \(error)")
            }
        case .letSocketsGo: sockets.releaseAll()
        case .finish: isFinished = true
        }
    }

    private func start(inBackground: Bool) {
        starts += 1
        do {
            let nothing = try OpenFile(path: "/dev/null", .write)
            let errors = try OpenFile(duplicating: 2)
            let started = try MainProcess(
                configuration.command, at: seat.place, inBackground: inBackground, streams: [nothing, errors, errors])
            main = started
            log("Main (pid \(started.pid)) is started")
        } catch {
            lastEnd = MainProcessEnd.notStarted.text
            log("Main was not started: \(error)")
            happen(.ended(.notStarted))
        }
    }

    private func signal(_ signal: ProcessSignal) {
        do throws(SystemCallError) {
            try main?.handle.signal(signal)
        } catch {
            log("\(error)")
        }
    }
}

extension MainProcessEnd {
    /// Words for the status.
    var text: String {
        switch self {
        case .exited(let status): "exited \(status)"
        case .killed(let signal): "killed \(signal)"
        case .notStarted: "notStarted"
        case .unseen: "unseen"
        }
    }
}
