public import CoreAPI

/// One record of a snapshot. A snapshot is a begin, any number of the others, and an end.
public enum SnapshotPart: Sendable {
    /// The revision that the snapshot stands at.
    case begin(Revision)
    case entries([(key: Key, entry: StoredEntry)])
    case sessions([SessionState])
    case topics([(name: NotificationName, topic: TopicState)])
    case end
}
