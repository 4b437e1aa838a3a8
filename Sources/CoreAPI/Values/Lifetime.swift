/// How long an entry lives when nobody deletes it.
///
/// Source: contract S8.
public enum Lifetime: Hashable, Sendable {
    /// Until deleted.
    case persistent
    /// Until the session that wrote it ends; gone in the same revision as the session.
    case session
    /// For a duration after it was written, by a clock that no change of the wall clock moves.
    ///
    /// Never gone early, at most one second late while anyone has the group open. Time with the machine off does not
    /// count, and each start of the machine may add at most one full duration.
    case expiring(after: Duration)
}
