internal import CoreAPI

/// What the entries and changes of a mailbox of one kind say.
protocol ListeningSource: Sendable {
    /// All keys of the mailbox.
    var prefix: KeyPrefix { get }
    /// Posted by each send and each clearing, in the same commit.
    var announcement: NotificationName { get }

    /// The messages that stand there, the oldest first.
    func standing(in snapshot: Snapshot) -> [StoredEvent]

    /// What is new since a revision, as far as it can be seen. Each of them was announced.
    func news(in snapshot: Snapshot, since revision: Revision) -> [StoredEvent]

    /// What a commit did. Each of them was announced.
    func news(in changes: ChangeSet) -> [StoredEvent]

    /// What a commit took away without an announcement: an expiry.
    func loss(in changes: ChangeSet) -> StoredEvent?

    /// Whether the message that stood there last is gone, where that is an event.
    func lostAll(in snapshot: Snapshot) -> Bool
}
