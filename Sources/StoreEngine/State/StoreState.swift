package import CoreAPI

/// The state of a store as a value: the same effects applied in the same order give the same state, anywhere.
///
/// It has no clock, no I/O and no locks. A backend evaluates a request with ``decide(_:of:delivery:at:)`` at its
/// position in the order and records the resulting effect, which every replica then applies.
package struct StoreState: Sendable {
    /// The maximum number of notification names that a store keeps.
    ///
    /// When there are more, a store with ``forgetsNames`` forgets names whose state word is 0, beginning with those that
    /// were not posted for the longest time. A commit is refused if its names do not fit even then. A store without
    /// ``forgetsNames`` refuses each commit that would exceed the maximum.
    package static let topicLimit = 65_536
    /// The maximum number of guards and operations ("steps") in one transaction, so that it fits into a record of the
    /// journal.
    package static let stepLimit = 65_536
    /// The largest permitted value of the limits on the size of a transaction and of a value, in bytes. A transaction of
    /// that size with ``stepLimit`` steps fits into a record of the journal, and so does each of its values in a
    /// snapshot.
    package static let maximumTransactionByteCount = JournalChain.maximumPayloadByteCount - 64 * stepLimit
    /// The bytes of keys at which an effect of expiries is full.
    static let expiryByteCount = 1 << 20

    /// The limits of requests.
    package let limits: Limits
    /// The revision of the last applied effect.
    package internal(set) var revision: Revision = .zero
    /// The latest commits.
    package internal(set) var history: History
    /// The latest effects; nil in a replica that delivers them to no other replica.
    package internal(set) var effects: EffectLog?
    /// The sum of the bytes of all keys and values.
    package internal(set) var byteCount = 0
    /// The participants.
    package internal(set) var sessions: [SessionID: SessionState] = [:]
    /// The participants as others see them, in the order of their opening.
    package var openSessions: [Session] { sessions.values.map(\.session).sorted { $0.id < $1.id } }
    /// The sums behind ``snapshotByteCount``.
    var snapshotSize = SnapshotSize()
    /// The revision of the last end of a session. A session that existed in a state with the same value still exists in
    /// this state.
    package internal(set) var lastSessionEnd: Revision = .zero

    var entries: [Key: StoredEntry] = [:]
    var topics = TopicTable()
    /// True if names are forgotten; otherwise a commit that would create too many is refused.
    let forgetsNames: Bool
    /// The keys that live with any session.
    var sessionKeys = KeyIndex()
    var index = KeyIndex()
    var expiries = ExpiryQueue()
    var expiringCount = 0
    var externalCount = 0

    /// Makes an empty store.
    ///
    /// - Parameters:
    ///   - limits: The limits of values, transactions and the store.
    ///   - historyByteCount: The bytes of memory for ``history``.
    ///   - effectByteCount: The bytes of memory for ``effects``; zero keeps none.
    ///   - forgetsNames: Whether notification names with a state word of 0 are forgotten when there are too many. Pass
    ///     true only if all other replicas are made from this state, because the order of another backend may keep all
    ///     names.
    package init(
        limits: Limits = Limits(), historyByteCount: Int = 256 << 10, effectByteCount: Int = 0,
        forgetsNames: Bool = true
    ) {
        self.limits = limits
        self.forgetsNames = forgetsNames
        self.history = History(floor: .zero, byteLimit: historyByteCount)
        self.effects = effectByteCount > 0 ? EffectLog(floor: .zero, byteLimit: effectByteCount) : nil
    }

    /// The bytes of a snapshot for a journal, as emitted by ``writeSnapshot(for:_:)``, with the header of each frame.
    ///
    /// Complexity: O(1); each effect updates it at a constant cost for each changed element.
    package var snapshotByteCount: Int { snapshotSize.byteCount(at: revision, forgotten: topics.forgotten) }

    /// Starts keeping the latest effects, unless the state does already.
    package mutating func keepEffects(byteCount: Int) {
        if effects == nil, byteCount > 0 { effects = EffectLog(floor: revision, byteLimit: byteCount) }
    }

    /// Returns the participants among some sessions; all for nil.
    package func sessions(among ids: Set<SessionID>?) -> [SessionState] {
        ids.map { ids in ids.compactMap { sessions[$0] } } ?? Array(sessions.values)
    }

    /// Returns whether a session exists.
    package func hasSession(_ id: SessionID) -> Bool {
        sessions.index(forKey: id) != nil
    }

    /// True if some values are external.
    package var hasExternalValues: Bool { externalCount > 0 }

    /// The number of entries.
    package var entryCount: Int { entries.count }

    /// The usage of the store.
    package var usage: StoreUsage {
        StoreUsage(
            entryCount: entries.count, byteCount: byteCount, nameCount: topics.count, nameByteCount: topics.byteCount)
    }

    /// The summary of the forgotten notification names.
    package var forgottenNames: ForgottenNames { topics.forgotten }

    /// Returns the entry under a key.
    package func entry(_ key: Key) -> StoredEntry? {
        entries[key]
    }

    /// Returns the state of a notification's name; for a forgotten name the same as for one that was never posted.
    package func topic(_ name: NotificationName) -> NotificationState {
        topics[name]?.notificationState ?? .never
    }

    /// Returns the entries that any of the prefixes selects, ordered by key.
    package mutating func selection(_ prefixes: [KeyPrefix]) -> [(key: Key, entry: StoredEntry)] {
        index.prepare(from: entries.keys)
        var selected: [(key: Key, entry: StoredEntry)] = []
        for prefix in prefixes {
            for key in index.selection(of: prefix) {
                if let entry = entries[key] { selected.append((key, entry)) }
            }
        }
        guard prefixes.count > 1 else { return selected }
        var seen: Set<Key> = []
        return selected.filter { seen.insert($0.key).inserted }.sorted { $0.key < $1.key }
    }

    /// Returns the sessions that hold a key selected by any of the prefixes, which their end would change.
    ///
    /// Complexity: grows with the keys that are selected and live with a session.
    package mutating func sessionsHolding(_ prefixes: [KeyPrefix]) -> [Session] {
        sessionKeys.prepare(from: sessions.values.flatMap(\.keys))
        var holders: Set<SessionID> = []
        for prefix in prefixes {
            for key in sessionKeys.selection(of: prefix) {
                if let holder = entries[key]?.origin { holders.insert(holder) }
            }
        }
        return holders.compactMap { sessions[$0]?.session }
    }

    /// Returns the keys that live with a session.
    package func keys(livingWith session: SessionID) -> Set<Key> {
        sessions[session]?.keys ?? []
    }

    /// Returns the time at which the next entry expires; nil if none does.
    package mutating func nextExpiry() -> BootInstant? {
        while let first = expiries.first {
            if entries[first.key]?.expiry == first.instant { return first.instant }
            expiries.removeFirst()
        }
        return nil
    }
}
