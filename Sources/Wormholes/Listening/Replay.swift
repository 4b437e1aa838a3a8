/// What a listener hears first.
///
/// Source: contract M3.
public enum Replay: String, Hashable, Sendable, CaseIterable {
    /// Only what is sent after it began.
    case none
    /// The last message that stands there, if any.
    case latest
    /// All that stand there, the oldest first. For a mailbox that keeps the last message this is the same as ``latest``.
    case pending
}
