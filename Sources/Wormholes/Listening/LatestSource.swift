internal import CoreAPI

/// A mailbox that keeps the last message, as a listener sees it.
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
        // A clearing comes before what was put in its place.
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
