/// An event of the supervision of a Main.
package enum SupervisionEvent: Hashable, Sendable {
    /// The keeper begins, and no Main is there.
    ///
    /// - isClosed: Whether a Main of this run of the machine was closed by its user, or stopped, and has not been
    ///   started since. After a reboot nothing is closed.
    case begun(isClosed: Bool)
    /// A Main is there that another keeper has started.
    case adopted
    /// Main's process has ended, or could not be started.
    case ended(MainProcessEnd)

    /// A person wants Main to run.
    case startWanted(inForeground: Bool)
    /// A person wants Main to end and to stay down.
    case stopWanted
    /// The keeper itself is to end, and takes Main with it.
    case quitWanted

    /// Main has opened its connection.
    case connected
    /// Main's connection has ended, though Main may live.
    case disconnected
    /// Main says that it sleeps: it waits for nothing but a wake.
    case fellAsleep
    /// Main says that it is in use, so that no budget holds.
    case awoke
    /// Main says that it lives.
    case saidAlive
    /// So many calls are active in Main now.
    case calls(Int)
    /// Main says that it will end because its user closes it.
    case saidLeaving

    /// Data has come on a kept socket.
    case dataCame
    /// Time has passed.
    case timePassed
}

/// How a Main ended.
package enum MainProcessEnd: Hashable, Sendable {
    case exited(status: Int32)
    case killed(signal: Int32)
    /// It could not be started at all.
    case notStarted
    /// It was the child of a keeper that is gone, so its end cannot be known.
    case unseen

    /// Whether its user closed it. Every other end is a failure (contract P8).
    package var isClosing: Bool { self == .exited(status: 0) }
}

/// A directive of the supervision of a Main.
package enum SupervisionDirective: Hashable, Sendable {
    /// Start Main.
    ///
    /// - inBackground: Whether it is told that it is in the background, so that it builds no user interface (contract
    ///   P8).
    case start(inBackground: Bool)
    /// Ask Main to end.
    case terminate
    /// End Main at once.
    case kill(KillReason)
    /// Wake Main, which sleeps, and tell it its budget.
    case wake(budget: Duration)
    /// Tell Main that its budget is over soon.
    case warn(left: Duration)
    /// Remember for as long as the machine runs whether Main is to stay down.
    case remember(isClosed: Bool)
    /// Let the kept sockets go: no Main will read them any more.
    case letSocketsGo
    /// Supervision is over.
    case finish
}

/// The reason why a Main was killed.
package enum KillReason: String, Hashable, Sendable {
    /// It used up the budget of a wake (contract P6).
    case budget
    /// It did not say that it lives.
    case watchdog
    /// It was asked to end and did not.
    case stop
}
