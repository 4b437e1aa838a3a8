public import CoreAPI

/// An observer's position: how many posts of a name it knows of.
public struct ObservationCursor: Sendable {
    /// The name that is observed.
    public let name: NotificationName
    private var seen: UInt64

    /// A cursor that begins at the present state.
    public init(name: NotificationName, in state: StoreState) {
        self.name = name
        self.seen = state.topic(name).count
    }

    /// One delivery for all posts since the last; nil when there were none.
    public mutating func next(in state: StoreState) -> NotificationDelivery? {
        let topic = state.topic(name)
        guard topic.count != seen, let origin = topic.origin else { return nil }
        let count = topic.count &- seen
        seen = topic.count
        return NotificationDelivery(
            name: name, state: topic.state, count: count, revision: topic.revision, origin: origin)
    }
}
