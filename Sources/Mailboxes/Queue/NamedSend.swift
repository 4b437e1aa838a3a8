/// What became of a message that its sender named.
public enum NamedSend: Hashable, Sendable {
    /// It is in the queue.
    case sent(SendReceipt)
    /// One of the same name is in the queue, or was acknowledged and is still remembered. Nothing was stored.
    case duplicate
}
