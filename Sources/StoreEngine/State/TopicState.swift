public import CoreAPI

/// What a replica keeps under a notification's name.
public struct TopicState: Sendable, Equatable {
    public internal(set) var state: UInt64
    public internal(set) var count: UInt64
    public internal(set) var revision: Revision
    public internal(set) var origin: SessionID
    /// The count with which the name began: above zero when names had been forgotten before.
    public internal(set) var firstCount: UInt64

    package init(state: UInt64, count: UInt64, revision: Revision, origin: SessionID, firstCount: UInt64 = 0) {
        self.state = state
        self.count = count
        self.revision = revision
        self.origin = origin
        self.firstCount = firstCount
    }

    /// The state as users see it.
    public var notificationState: NotificationState {
        NotificationState(state: state, count: count, revision: revision, origin: origin)
    }
}
