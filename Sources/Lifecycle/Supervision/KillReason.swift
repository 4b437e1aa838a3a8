/// Why a Main was killed.
package enum KillReason: String, Hashable, Sendable {
    /// It used up what a wake had given it (contract P6).
    case budget
    /// It did not say that it lives.
    case watchdog
    /// It was asked to end and did not.
    case stop
}
