/// A moment in the life of a scripted core at which a test can make it misbehave.
public enum CoreMoment: Hashable, Sendable, CaseIterable {
    /// In its start, before that returns.
    case start
    /// Before it asks its server for the first time.
    case fetch
    /// Between the storing of a message and its acknowledgement to the server.
    case acknowledge
    /// In its stop, before that returns.
    case stop
}
