/// What came of asking for a message.
public enum InboxTake: Hashable, Sendable {
    /// It is in this participant's hand.
    case taken(TakenMessage)
    /// There is nothing to take, for the reason given.
    case unavailable(InboxState)
}
