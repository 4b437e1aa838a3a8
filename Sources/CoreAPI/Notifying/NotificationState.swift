/// What stands under a notification's name, readable without an event.
///
/// Source: contract N5.
public struct NotificationState: Hashable, Sendable {
    /// The state word of the last post that gave one; 0 at first.
    public let state: UInt64
    /// How often the name was posted since the group exists. It begins above zero for a name that is first posted after
    /// others were forgotten (S10), and never falls while the name stands.
    public let count: UInt64
    /// The commit of the last post; ``Revision/zero`` when there was none.
    public let revision: Revision
    /// The session that made the last post; nil when there was none.
    public let origin: SessionID?

    public init(state: UInt64, count: UInt64, revision: Revision, origin: SessionID?) {
        self.state = state
        self.count = count
        self.revision = revision
        self.origin = origin
    }

    /// A name that was never posted.
    public static let never = NotificationState(state: 0, count: 0, revision: .zero, origin: nil)
}
