/// How a Main ended.
package enum MainEnd: Hashable, Sendable {
    case exited(status: Int32)
    case killed(signal: Int32)
    /// It could not be started at all.
    case notStarted
    /// It was the child of somebody else, of a keeper that is gone, so that nobody can tell.
    case unseen

    /// Whether its user closed it. Everything else is a failure (contract P8).
    package var isClosing: Bool { self == .exited(status: 0) }
}
