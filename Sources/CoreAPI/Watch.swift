/// The changes of keys, as an asynchronous sequence of snapshots and changes.
///
/// A watch is a position in the order of commits, not a queue: a consumer that falls behind costs no memory beyond the
/// store's history window, and never slows a writer. It has one consumer at a time; open another watch for another
/// consumer. It ends when cancelled, when the store is closed (the sequence ends) or when the session ends (it throws).
/// Releasing the last reference cancels it.
///
/// Source: contract W1-W4.
public final class Watch: AsyncSequence, Sendable {
    public typealias Element = WatchEvent
    public typealias Failure = SharedCoreError

    private let produce: @Sendable () async throws(SharedCoreError) -> WatchEvent?
    private let stop: @Sendable () -> Void

    /// Makes a watch for a store.
    ///
    /// - Parameters:
    ///   - next: Waits for the next event. Returns nil after `cancel`, after the store was closed, and promptly when
    ///     the waiting task is cancelled.
    ///   - cancel: Frees everything that the watch holds. May be called more than once and from anywhere.
    public init(
        next: @escaping @Sendable () async throws(SharedCoreError) -> WatchEvent?,
        cancel: @escaping @Sendable () -> Void
    ) {
        self.produce = next
        self.stop = cancel
    }

    deinit {
        stop()
    }

    /// Ends the sequence at once and frees its resources. Idempotent.
    public func cancel() {
        stop()
    }

    /// Waits for the next event; nil after the end.
    public nonisolated(nonsending) func next() async throws(SharedCoreError) -> WatchEvent? {
        try await produce()
    }

    public func makeAsyncIterator() -> Iterator {
        Iterator(watch: self)
    }

    /// Takes events from the watch that made it.
    public struct Iterator: AsyncIteratorProtocol {
        let watch: Watch

        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(SharedCoreError) -> WatchEvent? {
            try await watch.next()
        }
    }
}

/// The start of a watch.
public enum WatchStart: Hashable, Sendable {
    /// With a snapshot of the present state.
    case snapshot
    /// With the first change after now.
    case now
    /// Begins with the first change after a revision that the caller already knows. If the changes since then are no
    /// longer kept, begins with ``WatchEvent/lagged(_:)``.
    case after(Revision)
}

/// One delivery of a watch.
///
/// Source: contract W1-W3.
public enum WatchEvent: Hashable, Sendable {
    /// The present entries: the start of a watch that asked for them. Changes after its revision follow.
    case snapshot(Snapshot)
    /// The changes of one commit.
    case changes(ChangeSet)
    /// Changes were skipped, because a compaction removed them or the consumer was too slow. The snapshot replaces all
    /// that was delivered before; changes after its revision follow.
    case lagged(Snapshot)

    /// After this event, the consumer knows everything up to this revision.
    public var revision: Revision {
        switch self {
        case .snapshot(let snapshot), .lagged(let snapshot): snapshot.revision
        case .changes(let changes): changes.revision
        }
    }
}

/// The changes of one commit to the keys that a watch selects. Never split over two deliveries.
public struct ChangeSet: Hashable, Sendable {
    /// The commit.
    public let revision: Revision
    /// The session that made it. For an end or an expiry, the session that wrote the entries.
    public let origin: SessionID
    /// The changes, one for each key at most.
    public let changes: [Change]

    public init(revision: Revision, origin: SessionID, changes: [Change]) {
        self.revision = revision
        self.origin = origin
        self.changes = changes
    }
}

/// The change of one key by a transaction.
public struct Change: Hashable, Sendable {
    /// The ways in which an entry changes.
    public enum Kind: Hashable, Sendable {
        /// A put has set the entry.
        case put
        /// A transaction deleted it.
        case deleted
        /// The lifetime of the entry has ended.
        case expired
        /// The session that it lived with ended.
        case sessionEnded
    }

    /// The key that changed.
    public let key: Key
    /// The kind of the change.
    public let kind: Kind
    /// The entry before the change; nil if there was none.
    public let old: Entry?
    /// The entry after the change; nil if there is none.
    public let new: Entry?

    public init(key: Key, kind: Kind, old: Entry?, new: Entry?) {
        self.key = key
        self.kind = kind
        self.old = old
        self.new = new
    }
}
