internal import CoreAPI

/// What stands in a mailbox at one revision, and how many sends and clearings led to it.
///
/// The two are read one after the other, so that the number belongs to what stands only if nothing was announced between.
struct MailboxLook: Sendable {
    /// How often it is tried to find such a moment. Where senders leave none, the watch tells what came between.
    private static let attempts = 8

    let snapshot: Snapshot
    let count: UInt64
    /// What the watch has told of what came after the snapshot.
    let later: [ChangeSet]

    static func take(
        at source: any ListeningSource, in group: any SharedGroup, watching watch: Watch
    ) async throws(SharedCoreError) -> MailboxLook {
        for _ in 0..<attempts {
            let snapshot = try await group.list(source.prefix)
            let state = try await group.state(of: source.announcement)
            if state.revision <= snapshot.revision {
                return MailboxLook(snapshot: snapshot, count: state.count, later: [])
            }
        }
        while true {
            if let look = try await count(at: source, in: group, watching: watch) { return look }
        }
    }

    /// Nil when the watch was passed over meanwhile.
    private static func count(
        at source: any ListeningSource, in group: any SharedGroup, watching watch: Watch
    ) async throws(SharedCoreError) -> MailboxLook? {
        let snapshot = try await group.list(source.prefix)
        let state = try await group.state(of: source.announcement)
        var count = state.count
        var later: [ChangeSet] = []
        var revision = snapshot.revision
        // Each announcement stands in the commit of what it announces, so the watch comes to the last one.
        while revision < state.revision {
            let event = try await watch.next()
            // Its end, which whoever takes the next event hears.
            guard let event else { return MailboxLook(snapshot: snapshot, count: state.count, later: later) }
            guard case .changes(let changes) = event else { return nil }
            guard changes.revision > snapshot.revision else { continue }
            later.append(changes)
            revision = changes.revision
            if revision <= state.revision { count -= min(count, UInt64(source.news(in: changes).count)) }
        }
        return MailboxLook(snapshot: snapshot, count: count, later: later)
    }
}
