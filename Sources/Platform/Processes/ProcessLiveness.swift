/// What can be said about a process.
package enum ProcessLiveness: Hashable, Sendable {
    case alive
    /// It has ended, even if its parent has not taken notice yet.
    case dead
    /// It cannot be seen from here.
    case unknown
}
