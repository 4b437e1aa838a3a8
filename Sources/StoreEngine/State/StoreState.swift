public import CoreAPI

/// The state of a store as a value: the same effects applied in the same order give the same state, anywhere.
///
/// It has no clock, does no input or output and knows no locks. A backend decides a request with
/// ``decide(_:of:delivery:at:)`` where the order is agreed, records the effect, and every replica applies it.
public struct StoreState: Sendable {
    /// The most notification names that a store keeps: beyond them those without a state word are forgotten, the ones
    /// first whose last post is the oldest, and a commit that needs more than that is refused.
    public static let topicLimit = 65_536
    /// The most guards and operations of one transaction, so that it fits a record of the journal.
    public static let stepLimit = 65_536
    /// The largest limit of a transaction, and so of a value: one of that size with as many steps as are accepted fits
    /// a record of the journal, and so does each of its values in a snapshot.
    public static let maximumTransactionByteCount = JournalChain.maximumPayloadByteCount - 64 * stepLimit
    /// The bytes of keys at which an effect of expiries is full.
    static let expiryByteCount = 1 << 20

    /// The sizes that requests are held to.
    public let limits: Limits
    /// The last commit that was applied.
    public internal(set) var revision: Revision = .zero
    /// The latest commits.
    public internal(set) var history: History
    /// The latest effects; nil in a replica that delivers them to no other.
    public internal(set) var effects: EffectLog?
    /// The sum of the bytes of all keys and values.
    public internal(set) var byteCount = 0
    /// The participants.
    public internal(set) var sessions: [SessionID: SessionState] = [:]
    /// The participants as others see them, in the order of their opening.
    package var openSessions: [Session] { sessions.values.map(\.session).sorted { $0.id < $1.id } }
    /// The sums behind ``snapshotByteCount``.
    var snapshotSize = SnapshotSize()
    /// No session has ended after this revision: one that was found in a state with the same value is in this one too.
    public internal(set) var lastSessionEnd: Revision = .zero

    var entries: [Key: StoredEntry] = [:]
    var topics = TopicTable()
    /// Whether names are forgotten; otherwise a commit is refused that would make too many.
    let forgetsNames: Bool
    /// The keys that live with any session: few even where there are many keys.
    var sessionKeys: Set<Key> = []
    var index = KeyIndex()
    var expiries = ExpiryQueue()
    var expiringCount = 0
    var externalCount = 0

    /// An empty store.
    ///
    /// - Parameters:
    ///   - limits: The limits of values, transactions and the store.
    ///   - historyByteCount: The bytes of memory for ``history``.
    ///   - effectByteCount: The bytes of memory for ``effects``; zero keeps none.
    ///   - forgetsNames: Whether notification names without a state word are forgotten when there are too many. Only
    ///     where all other replicas are made of this state: an order elsewhere may keep them.
    public init(
        limits: Limits = Limits(), historyByteCount: Int = 256 << 10, effectByteCount: Int = 0,
        forgetsNames: Bool = true
    ) {
        self.limits = limits
        self.forgetsNames = forgetsNames
        self.history = History(floor: .zero, byteLimit: historyByteCount)
        self.effects = effectByteCount > 0 ? EffectLog(floor: .zero, byteLimit: effectByteCount) : nil
    }

    /// The bytes of a snapshot for a journal, as ``writeSnapshot(for:_:)`` emits it, with the header of each frame.
    ///
    /// Complexity: O(1); each effect keeps it at a constant cost for each element that it changes.
    public var snapshotByteCount: Int { snapshotSize.byteCount(at: revision, forgotten: topics.forgotten) }

    /// Begins to keep the latest effects, when the state does not yet.
    public mutating func keepEffects(byteCount: Int) {
        if effects == nil, byteCount > 0 { effects = EffectLog(floor: revision, byteLimit: byteCount) }
    }

    /// Returns whether a session stands.
    public func hasSession(_ id: SessionID) -> Bool {
        sessions.index(forKey: id) != nil
    }

    /// Whether some values lie elsewhere.
    public var hasExternalValues: Bool { externalCount > 0 }

    /// The number of entries.
    public var entryCount: Int { entries.count }

    /// How much stands in the store.
    public var usage: StoreUsage {
        StoreUsage(
            entryCount: entries.count, byteCount: byteCount, nameCount: topics.count, nameByteCount: topics.byteCount)
    }

    /// The summary of the notification names that were forgotten.
    public var forgottenNames: ForgottenNames { topics.forgotten }

    /// Returns the entry under a key.
    public func entry(_ key: Key) -> StoredEntry? {
        entries[key]
    }

    /// Returns the state of a notification's name; for one that was forgotten the same as for one that was never
    /// posted.
    public func topic(_ name: NotificationName) -> NotificationState {
        topics[name]?.notificationState ?? .never
    }

    /// Returns the entries that any of the prefixes selects, in the order of the keys.
    public mutating func selection(_ prefixes: [KeyPrefix]) -> [(key: Key, entry: StoredEntry)] {
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

    /// Returns the sessions whose end would change a key that any of the prefixes selects.
    public func sessionsHolding(_ prefixes: [KeyPrefix]) -> [Session] {
        var holders: Set<SessionID> = []
        for key in sessionKeys where prefixes.contains(where: { $0.contains(key) }) {
            if let holder = entries[key]?.origin { holders.insert(holder) }
        }
        return holders.compactMap { sessions[$0]?.session }
    }

    /// Returns the keys that go with a session.
    public func keys(livingWith session: SessionID) -> Set<Key> {
        sessions[session]?.keys ?? []
    }

    /// Returns the time at which the next entry expires; nil when none does.
    public mutating func nextExpiry() -> BootInstant? {
        while let first = expiries.first {
            if entries[first.key]?.expiry == first.instant { return first.instant }
            expiries.removeFirst()
        }
        return nil
    }
}
