/// How an ownership ended. There are three ways: released, the end of its session, and a take-over for one of three
/// reasons.
///
/// Source: contract C5.
public enum OwnershipEnd: UInt8, Hashable, Sendable, CaseIterable {
    /// Its holder released it.
    case released = 1
    /// Its holder's session ended: closed, killed, or a restart of the machine.
    case sessionEnded = 2
    /// A take-over: a challenge was left unanswered (C6).
    case unanswered = 3
    /// A take-over: an Executor had not let go when a Main's deadline had passed (C3).
    case deadlinePassed = 4
    /// A take-over: a second Main was told to (C14).
    case replaced = 5
}
