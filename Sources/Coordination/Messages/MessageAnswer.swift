/// What came of asking for a message.
public struct MessageAnswer: Hashable, Sendable {
    /// What there is to do.
    public enum Content: Hashable, Sendable {
        /// Show it, then acknowledge it with ``ExecutorParticipant/acknowledge(_:)``.
        case message(TakenMessage)
        /// It was received and has nothing to show, or somebody has shown it.
        case nothingToShow
    }

    /// Where it came from.
    public enum Source: String, Hashable, Sendable {
        /// Somebody else's core stored it, or somebody has shown it already.
        case inbox
        /// This participant's own core received it, now or before: its session stored it.
        case core
    }

    public let content: Content
    public let source: Source

    public init(_ content: Content, from source: Source) {
        self.content = content
        self.source = source
    }
}
