internal import CoreAPI

/// A listener's position in the order: it returns every send and every clearing after it, or the number of those it
/// missed.
///
/// Each send and each clearing posts the mailbox's announcement in its own commit. So the number of posts at a revision
/// is the number of sends and clearings up to it. The difference of two such numbers is the number of events that a
/// listener must receive between their revisions.
struct MailboxReader: Sendable {
    private let source: any ListeningSource
    private let group: any SharedGroup
    let watch: Watch
    /// Everything up to this revision was delivered.
    private var revision: Revision
    /// The number of sends and clearings up to that revision.
    private var count: UInt64
    /// True if the mailbox had a message at that revision.
    private var hasMessage: Bool
    /// The next events, in reverse order.
    private var ready: [StoredEvent]

    /// Arms a listener.
    init(
        _ source: any ListeningSource, in group: any SharedGroup, replay: ReplayPolicy
    ) async throws(SharedCoreError) {
        self.source = source
        self.group = group
        watch = try await group.watch([source.prefix], from: .now)
        let look = try await MailboxReading.take(at: source, in: group, watching: watch)
        revision = look.snapshot.revision
        count = look.count
        let standing = source.standing(in: look.snapshot)
        hasMessage = !standing.isEmpty
        switch replay {
        case .none: ready = []
        case .latest: ready = Array(standing.suffix(1))
        case .pending: ready = standing.reversed()
        }
        for changes in look.later { apply(changes) }
    }

    /// Waits for the next event; nil after the end.
    nonisolated(nonsending) mutating func next() async throws(SharedCoreError) -> StoredEvent? {
        while true {
            if let event = ready.popLast() { return event }
            switch try await watch.next() {
            case nil: return nil
            case .changes(let changes): apply(changes)
            // The watch begins at the present and delivers no first snapshot, so a snapshot here replaces the known
            // state.
            case .snapshot, .lagged: try await catchUp()
            }
        }
    }

    private mutating func apply(_ changes: ChangeSet) {
        guard changes.revision > revision else { return }
        revision = changes.revision
        let news = source.news(in: changes)
        count += UInt64(news.count)
        give(news + (source.loss(in: changes).map { [$0] } ?? []))
    }

    private mutating func catchUp() async throws(SharedCoreError) {
        let look = try await MailboxReading.take(at: source, in: group, watching: watch)
        let (snapshot, count) = (look.snapshot, look.count)
        guard snapshot.revision > revision else {
            for changes in look.later { apply(changes) }
            return
        }
        var events = source.news(in: snapshot, since: revision)
        let passed = count - min(count, self.count + UInt64(events.count))
        if passed > 0 {
            events.insert(StoredEvent(.lagged(passed), snapshot.revision, by: group.session.id), at: 0)
        }
        if hasMessage, source.lostAll(in: snapshot), !events.contains(where: \.isClearing) {
            events.append(StoredEvent(.cleared, snapshot.revision, by: group.session.id))
        }
        revision = snapshot.revision
        self.count = count
        give(events)
        for changes in look.later { apply(changes) }
    }

    private mutating func give(_ events: [StoredEvent]) {
        if let last = events.last { hasMessage = !last.isClearing }
        ready = events.reversed() + ready
    }
}

/// The content of a mailbox at one revision, and the number of sends and clearings that led to it.
///
/// The two are read one after the other, so the number belongs to the content only if nothing was announced in between.
struct MailboxReading: Sendable {
    /// The number of tries to read both without an announcement in between. If all fail, the watch provides the changes
    /// in between.
    private static let attempts = 8

    let snapshot: Snapshot
    let count: UInt64
    /// The changes after the snapshot that the watch has delivered.
    let later: [ChangeSet]

    static func take(
        at source: any ListeningSource, in group: any SharedGroup, watching watch: Watch
    ) async throws(SharedCoreError) -> MailboxReading {
        for _ in 0..<attempts {
            let snapshot = try await group.list(source.prefix)
            let state = try await group.state(of: source.announcement)
            if state.revision <= snapshot.revision {
                return MailboxReading(snapshot: snapshot, count: state.count, later: [])
            }
        }
        while true {
            if let look = try await count(at: source, in: group, watching: watch) { return look }
        }
    }

    /// Returns nil if the watch was lagging meanwhile.
    private static func count(
        at source: any ListeningSource, in group: any SharedGroup, watching watch: Watch
    ) async throws(SharedCoreError) -> MailboxReading? {
        let snapshot = try await group.list(source.prefix)
        let state = try await group.state(of: source.announcement)
        var count = state.count
        var later: [ChangeSet] = []
        var revision = snapshot.revision
        // Each announcement was posted in the commit of its message, so the watch delivers a change for the last
        // announcement, and this loop ends.
        while revision < state.revision {
            let event = try await watch.next()
            // The watch has ended; the next call to take an event reports that.
            guard let event else { return MailboxReading(snapshot: snapshot, count: state.count, later: later) }
            guard case .changes(let changes) = event else { return nil }
            guard changes.revision > snapshot.revision else { continue }
            later.append(changes)
            revision = changes.revision
            if revision <= state.revision { count -= min(count, UInt64(source.news(in: changes).count)) }
        }
        return MailboxReading(snapshot: snapshot, count: count, later: later)
    }
}

/// An event of a mailbox, not decoded yet.
struct StoredEvent: Sendable {
    enum Content: Sendable {
        case message([UInt8])
        case cleared
        case lagged(UInt64)
    }

    let content: Content
    let revision: Revision
    let origin: SessionID

    init(_ content: Content, _ revision: Revision, by origin: SessionID) {
        self.content = content
        self.revision = revision
        self.origin = origin
    }

    var isClearing: Bool {
        if case .cleared = content { true } else { false }
    }

    /// Makes the announcement of a message from its entry.
    init(_ entry: Entry) {
        self.init(.message(entry.value), entry.revision, by: entry.origin)
    }
}
