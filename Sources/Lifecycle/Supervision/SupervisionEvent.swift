/// An event of the supervision of a Main.
package enum SupervisionEvent: Hashable, Sendable {
    /// The keeper begins, and no Main runs.
    ///
    /// - isClosed: Whether a Main of this boot of the machine was closed by its user, or stopped, and has not been
    ///   started since. After a reboot it is false.
    case begun(isClosed: Bool)
    /// The keeper has found a running Main that another keeper has started.
    case adopted
    /// Main's process has ended, or could not be started.
    case ended(MainProcessEnd)

    /// A person wants Main to run.
    case startWanted(inForeground: Bool)
    /// A user requests that Main end and not be started again.
    case stopWanted
    /// The keeper itself must end, and Main with it.
    case quitWanted

    /// Main has opened its connection.
    case connected
    /// Main's connection has ended, though Main may still run.
    case disconnected
    /// Main reports that it sleeps: it only waits for a wake.
    case fellAsleep
    /// Main reports that it is in use, so that no budget applies.
    case awoke
    /// Main reports that it is alive.
    case saidAlive
    /// Main reports the number of its active calls.
    case calls(Int)
    /// Main reports that it will end because its user closes it.
    case saidLeaving

    /// Data has arrived on a kept socket.
    case dataCame
    /// The holder of Main's ownership has woken Main. Each wake is reported to the keeper once.
    case holderWoke
    /// Time has passed.
    case timePassed
}

/// How a Main ended.
package enum MainProcessEnd: Hashable, Sendable {
    case exited(status: Int32)
    case killed(signal: Int32)
    /// Main could not be started at all.
    case notStarted
    /// Main was the child of a keeper that has ended, so its exit status is unknown.
    case unseen

    /// True if the user closed Main. Every other end is a failure (contract P8).
    package var isClosing: Bool { self == .exited(status: 0) }
}

/// A directive of the supervision of a Main.
package enum SupervisionDirective: Hashable, Sendable {
    /// Start Main.
    ///
    /// - inBackground: True to start it in the background, so that it builds no user interface (contract P8).
    case start(inBackground: Bool)
    /// Ask Main to end.
    case terminate
    /// End Main at once.
    case kill(KillReason)
    /// Wake a sleeping Main, and send it the budget.
    case wake(budget: Duration)
    /// Tell Main, which its holder has woken, its budget.
    case tellBudget(Duration)
    /// Tell Main that its budget is over soon.
    case warn(left: Duration)
    /// Remember until the next reboot whether Main must stay down.
    case remember(isClosed: Bool)
    /// Release the kept sockets: no Main will read them any more.
    case letSocketsGo
    /// Supervision is over.
    case finish
}

/// The reason why a Main was killed.
package enum KillReason: String, Hashable, Sendable {
    /// Main used up the budget of a wake (contract P6).
    case budget
    /// Main did not report that it is alive.
    case watchdog
    /// Main was asked to end and did not.
    case stop
}
