internal import CoreAPI
internal import Mailboxes

/// Reads the entries and changes of a mailbox of one kind.
protocol ListeningSource: Sendable {
    /// All keys of the mailbox.
    var prefix: KeyPrefix { get }
    /// Posted by each send and each clearing, in the same commit.
    var announcement: NotificationName { get }

    /// Returns the messages in a snapshot, the oldest first.
    func standing(in snapshot: Snapshot) -> [StoredEvent]

    /// Returns the visible events since a revision. Each of them was announced.
    func news(in snapshot: Snapshot, since revision: Revision) -> [StoredEvent]

    /// Returns the events of a commit. Each of them was announced.
    func news(in changes: ChangeSet) -> [StoredEvent]

    /// Returns the removal by a commit without an announcement: an expiry.
    func loss(in changes: ChangeSet) -> StoredEvent?

    /// Returns whether the last message was removed, if that is an event.
    func lostAll(in snapshot: Snapshot) -> Bool
}

/// The listener's source of a mailbox that keeps the last message.
struct LatestSource: ListeningSource {
    let place: LatestPlace

    var prefix: KeyPrefix { place.prefix }
    var announcement: NotificationName { place.announcement }

    func standing(in snapshot: Snapshot) -> [StoredEvent] {
        snapshot.entries.filter { $0.key == place.value }.map { StoredEvent($0) }
    }

    func news(in snapshot: Snapshot, since revision: Revision) -> [StoredEvent] {
        snapshot.entries.filter { $0.revision > revision }.compactMap(event).sorted { $0.revision < $1.revision }
    }

    func news(in changes: ChangeSet) -> [StoredEvent] {
        // A clearing precedes the message that was put after it.
        changes.changes.compactMap(\.new).sorted { $0.key < $1.key }.compactMap(event)
    }

    func loss(in changes: ChangeSet) -> StoredEvent? {
        let lost = changes.changes.first { $0.key == place.value && $0.new == nil }
        let isCleared = changes.changes.contains { $0.key == place.cleared }
        guard lost != nil, !isCleared else { return nil }
        return StoredEvent(.cleared, changes.revision, by: changes.origin)
    }

    func lostAll(in snapshot: Snapshot) -> Bool {
        standing(in: snapshot).isEmpty
    }

    private func event(_ entry: Entry) -> StoredEvent? {
        switch entry.key {
        case place.value: StoredEvent(entry)
        case place.cleared: StoredEvent(.cleared, entry.revision, by: entry.origin)
        default: nil
        }
    }
}

/// The listener's source of a queue: takes and acknowledgements are no events.
struct QueueSource: ListeningSource {
    let place: QueuePlace

    var prefix: KeyPrefix { place.keys.prefix }
    var announcement: NotificationName { place.announcement }

    func standing(in snapshot: Snapshot) -> [StoredEvent] {
        QueueContents(of: snapshot.entries, at: place.keys).inOrder.map { StoredEvent($0) }
    }

    func news(in snapshot: Snapshot, since revision: Revision) -> [StoredEvent] {
        let cleared = snapshot.entries.first { $0.key == place.cleared && $0.revision > revision }
        let messages = standing(in: snapshot).filter { $0.revision > revision }
        guard let cleared else { return messages }
        // Each of the messages was sent after the clearing.
        return [StoredEvent(.cleared, cleared.revision, by: cleared.origin)] + messages
    }

    func news(in changes: ChangeSet) -> [StoredEvent] {
        let cleared = changes.changes.contains { $0.key == place.cleared && $0.new != nil }
        let sent = changes.changes.filter { change in
            change.old == nil && place.keys.place(of: change.key)?.part == .message
        }
        return (cleared ? [StoredEvent(.cleared, changes.revision, by: changes.origin)] : [])
            + sent.compactMap(\.new).map { StoredEvent($0) }
    }

    func loss(in changes: ChangeSet) -> StoredEvent? { nil }

    func lostAll(in snapshot: Snapshot) -> Bool { false }
}
