/// What the supervision of a Main wants done.
package enum SupervisionDirective: Hashable, Sendable {
    /// Start Main.
    ///
    /// - inBackground: Whether it is told that nobody looks, so that it builds no user interface (contract P8).
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
    /// Let the kept sockets go: nobody will read them any more.
    case letSocketsGo
    /// Supervision is over.
    case finish
}
