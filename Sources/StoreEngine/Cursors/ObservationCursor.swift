package import CoreAPI

/// An observer's position: the number of posts of a name that it knows of, and the revision up to which it has read.
package struct ObservationCursor: Sendable {
    /// The observed name.
    package let name: NotificationName
    private var seen: UInt64
    private var looked: Revision

    /// A cursor that begins at the present state.
    package init(name: NotificationName, in state: StoreState) {
        self.name = name
        self.seen = state.topic(name).count
        self.looked = state.revision
    }

    /// Returns one delivery for all posts since the last; nil when there were none.
    ///
    /// The store may have forgotten the name. Its posts up to the last check are known, so nothing is missing unless a
    /// name with a later post was forgotten. Then this name may have been posted and forgotten in between, and a
    /// delivery without an origin reports that: a needless delivery is better than a missed one.
    package mutating func next(in state: StoreState) -> NotificationDelivery? {
        defer { looked = max(looked, state.revision) }
        guard let topic = state.topics[name] else {
            let forgotten = state.forgottenNames
            guard forgotten.lastPost > looked else { return nil }
            return NotificationDelivery(
                name: name, state: 0, count: 1, revision: forgotten.lastPost, origin: SessionID(rawValue: 0))
        }
        let known = max(seen, topic.firstCount)
        guard topic.count != known else { return nil }
        seen = topic.count
        return NotificationDelivery(
            name: name, state: topic.state, count: topic.count &- known, revision: topic.revision,
            origin: topic.origin)
    }
}
