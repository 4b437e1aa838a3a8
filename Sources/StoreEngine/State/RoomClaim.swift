package import CoreAPI

/// What a commit may use of the room that content leaves free: beyond the limits of the store, and on a full disk (contract S10).
///
/// A group that content has filled would otherwise keep a dead owner in place, and start no core. The room has a fixed size, and each
/// kind leaves some of it to those before it. So content keeps no owner in place.
package enum RoomClaim: Hashable, Sendable {
    /// It only removes.
    case removal
    /// What coordination writes where it changes what lives with a session: an owner, a request, an expectation, a take.
    case ownership
    /// What coordination writes by itself: an entry of the timeline, what a core or a command is known by.
    case record
    /// Anything else that is small and changes what lives with a session.
    case session
    /// All that is refused first.
    case content

    /// The most bytes of keys, values and names in one commit that is no content. What it deletes does not count: to drop the oldest of
    /// the timeline makes room. The largest push fits, which is written anew with what its Executor failed for.
    package static let commitByteCount = 16 << 10

    /// How many eighths of the room it may use.
    private var share: Int {
        switch self {
        case .removal, .ownership: 8
        case .record: 6
        case .session: 4
        case .content: 0
        }
    }

    /// Whether a commit waits for a compaction where the log is long, and is tried again where one makes room: what
    /// coordination writes does not, nor what only removes.
    package var waitsForRoom: Bool {
        switch self {
        case .removal, .ownership, .record: false
        case .session, .content: true
        }
    }

    /// How many bytes it may use beyond the limit of a store.
    package var byteCount: Int { (1 << 20) / 8 * share }
    /// How many entries it may use beyond the limit of a store.
    package var entryCount: Int { 4_096 / 8 * share }

    /// The place of what coordination writes.
    package static let coordination: KeyPrefix = ".sharedcore/"

    /// What stands there and is content: the messages of the inbox, of mailboxes and of pushes. Taking one is not.
    private static let messages: [KeyPrefix] = [
        ".sharedcore/inbox/", ".sharedcore/mailboxes/", ".sharedcore/pushes/", ".sharedcore/main-pushes/",
    ]

    /// Whether a put is one of coordination. What expires by itself is a message, or tells of one.
    fileprivate static func isRecord(_ key: Key, _ lifetime: Lifetime) -> Bool {
        guard coordination.contains(key) else { return false }
        return switch lifetime {
        case .session: true
        case .persistent: !messages.contains { $0.contains(key) }
        case .expiring: false
        }
    }
}

extension StoreState {
    /// What a commit may use, judged before it is applied.
    package func claim(of operations: some Sequence<Effect.Operation>) -> RoomClaim {
        var byteCount = 0
        var onlyRemoves = true
        var isCoordination = true
        var changesSession = false
        for operation in operations {
            switch operation {
            case .put(let key, let value, let lifetime):
                onlyRemoves = false
                byteCount += key.text.utf8.count + value.count
                if lifetime == .session { changesSession = true }
                isCoordination = isCoordination && RoomClaim.isRecord(key, lifetime)
            case .delete(let key):
                if !changesSession, entries[key]?.lifetime == .session { changesSession = true }
                isCoordination = isCoordination && RoomClaim.coordination.contains(key)
            case .deletePrefix:
                isCoordination = false
            case .post(let name, _):
                onlyRemoves = false
                byteCount += name.text.utf8.count
                isCoordination = false
            }
        }
        if onlyRemoves { return .removal }
        guard byteCount <= RoomClaim.commitByteCount else { return .content }
        if isCoordination { return changesSession ? .ownership : .record }
        return changesSession ? .session : .content
    }

    package func claim(of operations: [Transaction.Operation]) -> RoomClaim {
        claim(of: operations.lazy.map(Effect.Operation.init))
    }
}
