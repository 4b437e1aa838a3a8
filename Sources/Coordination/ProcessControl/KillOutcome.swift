/// What became of an attempt to kill a process.
public enum KillOutcome: Hashable, Sendable {
    /// The signal was sent.
    case signalled
    /// The process had ended before.
    case gone
    /// It could not be done from here, for this reason.
    case impossible(String)
}
