package import CoreAPI

/// What a Main that runs has said of itself.
package enum MainPresence: Hashable, Sendable {
    /// It has no connection to its keeper.
    case silent
    /// It is in use.
    case awake
    /// It waits for a wake.
    case asleep
    /// It was woken, or started for data, and has until the limit.
    case woken(warnAt: BootInstant?, limit: BootInstant)
}
