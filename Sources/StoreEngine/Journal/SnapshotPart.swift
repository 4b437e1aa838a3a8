public import CoreAPI

/// One record of a snapshot. A snapshot is a begin, any number of the others, and an end.
public enum SnapshotPart: Sendable {
    /// The revision that the snapshot stands at.
    case begin(Revision)
    case entries([(key: Key, entry: StoredEntry)])
    case sessions([SessionState])
    case topics([(name: NotificationName, topic: TopicState)])
    /// What is known of the notification names that were forgotten.
    case forgottenNames(ForgottenNames)
    /// What became of the last requests that a hub brought for a session.
    case deliveries(SessionID, [SessionState.Delivery])
    /// The latest changes, in a snapshot for a replica elsewhere.
    case history([CommittedChanges])
    case end
}
