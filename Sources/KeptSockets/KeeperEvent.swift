/// What a keeper tells its Main.
public enum KeeperEvent: Hashable, Sendable {
    /// Data has come on a kept socket while Main slept, or Main was started for it: it has so much time (contract P6).
    case wake(budget: Duration)
    /// The time is over soon; at its end Main is killed, unless it sleeps, is in use or has an active call.
    case budgetEnds(left: Duration)
    /// The keeper is gone; what it kept, this process has as well.
    case keeperLost
    /// The next keeper is there and has everything again.
    case keeperFound
}
