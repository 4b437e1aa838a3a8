public import CoreAPI

/// The calls of a group, for each process that has the group open, including readers and processes that do not own.
///
/// ```swift
/// let calls = Calls(group)
/// for try await present in try await calls.changes() {
///     window.show(present.filter(\.isOpen))
/// }
/// ```
///
/// Source: contract C23.
public struct Calls: Sendable {
    /// The default time for which an ended call is kept.
    public static let defaultLifetime = Duration.seconds(24 * 3600)

    let store: any SharedStore
    let clock: any TimeSource

    /// Reads and changes the calls of a group through an open handle.
    ///
    /// - Parameters:
    ///   - store: An open handle of the group.
    ///   - clock: The clock of deadlines.
    public init(_ store: any SharedStore, clock: any TimeSource) {
        self.store = store
        self.clock = clock
    }

    /// Returns the open calls, the oldest first, then those that have ended and were not acknowledged, the newest
    /// first. A call is listed as ended, with ``Call/EndReason/lost``, if its holder has ended.
    public func list() async throws(SharedCoreError) -> [Call] {
        // If the backend can detect dead processes, this ends their sessions, so that a dead process does not count as
        // the holder.
        _ = try await store.sessions()
        var standing = try await standing()
        while true {
            let entries = try await store.list(CallKey.records).entries
            let present = try await self.standing()
            // Both reads saw the same owner. Otherwise a call that its holder ended just before the release, or a call
            // of a new owner, would be reported as lost.
            if present.owner?.creationRevision == standing.owner?.creationRevision,
                present.baton?.revision == standing.baton?.revision
            {
                return CallsView(entries, owner: present.owner, baton: present.baton).calls
            }
            standing = present
        }
    }

    private func standing() async throws(SharedCoreError) -> (owner: Entry?, baton: Entry?) {
        let entries = try await store.list(OwnershipKey.path).entries
        func entry(_ key: Key) -> Entry? { entries.first { $0.key == key } }
        return (entry(OwnershipKey.owner), entry(OwnershipKey.baton))
    }

    /// Begins to deliver the calls as ``list()`` returns them: first the present list, then each changed list.
    public func changes() async throws(SharedCoreError) -> CallChanges {
        CallChanges(of: try await store.watch(CallsView.prefixes, from: .snapshot))
    }

    /// Acknowledges an ended call, so that it is not shown again. For 5 minutes a process that waits for its id then
    /// gets the result that there is nothing to show, unless 128 calls that ended later were acknowledged.
    ///
    /// - Returns: True if there was an ended call; false if it was acknowledged before, is open, or is not known.
    @discardableResult
    public func acknowledge(_ id: CallID) async throws(SharedCoreError) -> Bool {
        let key = try CallKey.record(of: id)
        // As in ``list()``: a dead process must not count as the holder.
        _ = try await store.sessions()
        while true {
            guard let entry = try await store.get(key), var record = CallRecord(entry.value), !record.isAcknowledged,
                record.call.id == id
            else { return false }
            if record.state.isOpen {
                guard entry.isOlder(than: try await store.get(OwnershipKey.owner)?.creationRevision),
                    !BatonRecord.movingKeys(of: try await store.get(OwnershipKey.baton)).contains(key)
                else { return false }
                record.state = .ended(.lost)
            }
            record.acknowledge()
            // An owner takes a call over by writing its record, so a guard on the record's revision is enough.
            var transaction = Transaction(guards: [.revision(key, entry.revision)])
            transaction.put(key, record.bytes, lifetime: .expiring(after: Inbox.defaultLifetime))
            let entries = try await store.list(CallKey.records).entries
            transaction.remove(CallRecord.acknowledgedSurplus(among: entries, with: 1, in: clock.bootID))
            do throws(SharedCoreError) {
                _ = try await store.commit(transaction)
                return true
            } catch {
                // The store added every other guard. The epoch guard of a superseded core fails at each attempt, so
                // retries would never end.
                guard error.guardFailure?.condition.key == key else { throw error }
            }
        }
    }
}

/// Delivers the list of a group's calls each time that it changes. One consumer at a time; it ends when it or its task
/// is cancelled, or when the handle is closed.
///
/// Source: contract C23.
public final class CallChanges: AsyncSequence, Sendable {
    public typealias Element = [Call]
    public typealias Failure = SharedCoreError

    private let watch: Watch

    init(of watch: Watch) {
        self.watch = watch
    }

    /// Ends the sequence. Idempotent.
    public func cancel() {
        watch.cancel()
    }

    public func makeAsyncIterator() -> Iterator {
        Iterator(watch: watch)
    }

    /// Delivers the lists of calls, one by one.
    public struct Iterator: AsyncIteratorProtocol {
        let watch: Watch
        private var view = CallsView()
        private var last: [Call]?

        init(watch: Watch) {
            self.watch = watch
        }

        /// Waits until the list of calls differs from the one that was returned last, and returns it; nil after the end.
        ///
        /// - Throws: The errors of ``Watch/next()``.
        public mutating func next() async throws(SharedCoreError) -> [Call]? {
            try await advance()
        }

        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(SharedCoreError) -> [Call]? {
            try await advance()
        }

        private nonisolated(nonsending) mutating func advance() async throws(SharedCoreError) -> [Call]? {
            while let event = try await watch.next() {
                view.apply(event)
                let calls = view.calls
                if calls != last {
                    last = calls
                    return calls
                }
            }
            return nil
        }
    }
}
