package import CoreAPI

/// An observer's position: the number of posts of a name that it knows of, and the revision up to which it has read.
package struct ObservationCursor: Sendable {
    /// The observed name.
    package let name: NotificationName
    private var seen: UInt64
    private var looked: Revision

    /// Makes a cursor that begins at the present state.
    package init(name: NotificationName, in state: StoreState) {
        self.name = name
        self.seen = state.topic(name).count
        self.looked = state.revision
    }

    /// Returns one delivery for all posts since the last; nil when there were none.
    ///
    /// The store may have forgotten the name. The cursor knows the posts up to its last check, so nothing is missing
    /// unless the store has forgotten a name with a later post. In that case this name may have been posted and
    /// forgotten since, and the cursor delivers one post without an origin: a needless delivery is better than a missed
    /// one.
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
