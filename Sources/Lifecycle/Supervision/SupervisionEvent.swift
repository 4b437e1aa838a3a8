/// What happens to the supervision of a Main.
package enum SupervisionEvent: Hashable, Sendable {
    /// The keeper begins, and no Main is there.
    ///
    /// - isClosed: Whether a Main of this run of the machine was closed by its user, or stopped, and has not been started
    ///   since. After a reboot nothing is closed.
    case begun(isClosed: Bool)
    /// A Main is there that somebody else has started.
    case adopted
    /// Main's process has ended, or could not be started.
    case ended(MainEnd)

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
