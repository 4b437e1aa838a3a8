internal import CoreAPI
internal import Mailboxes

/// A queue, as a listener sees it: what others take and acknowledge is none of its events.
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
        // What stands there was sent after the clearing.
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
