public import CoreAPI

/// What a replica keeps under a notification's name.
public struct TopicState: Sendable, Equatable {
    public internal(set) var state: UInt64
    public internal(set) var count: UInt64
    public internal(set) var revision: Revision
    public internal(set) var origin: SessionID

    package init(state: UInt64, count: UInt64, revision: Revision, origin: SessionID) {
        self.state = state
        self.count = count
        self.revision = revision
        self.origin = origin
    }

    /// The state as users see it.
    public var notificationState: NotificationState {
        NotificationState(state: state, count: count, revision: revision, origin: origin)
    }
}
