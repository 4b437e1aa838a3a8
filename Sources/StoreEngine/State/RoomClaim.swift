package import CoreAPI

/// The part of the reserve that a commit may use: above the limits of the store, and on a full disk (contract S10).
///
/// Without a reserve, a group that is full of content could not replace an ended owner and start a core. The reserve
/// has a fixed size, and each kind of commit must leave a part of it for the kinds above it in this list.
package enum RoomClaim: Hashable, Sendable {
    /// The commit only removes.
    case removal
    /// A write of coordination that changes keys that live with a session: an owner, a request, an expectation, a take.
    case ownership
    /// Any other write of coordination: an entry of the timeline, the record of a core or a command.
    case record
    /// Any other small write that changes keys that live with a session.
    case session
    /// All other commits, which are refused first.
    case content

    /// The maximum size of the keys, values and names in a commit that does not count as content, in bytes. Deletions
    /// do not count, because deleting the oldest timeline entries frees space. The largest push fits, which is written
    /// again with the error of its Executor.
    package static let commitByteCount = 16 << 10

    /// The eighths of the reserve that the commit may use.
    private var share: Int {
        switch self {
        case .removal, .ownership: 8
        case .record: 6
        case .session: 4
        case .content: 0
        }
    }

    /// True if a commit waits for a compaction when the log is long, and is tried again when a compaction has freed
    /// space. Commits of coordination and commits that only remove do not wait.
    package var waitsForRoom: Bool {
        switch self {
        case .removal, .ownership, .record: false
        case .session, .content: true
        }
    }

    /// The bytes that the commit may use beyond the limit of a store.
    package var byteCount: Int { (1 << 20) / 8 * share }
    /// The number of entries that the commit may add beyond the limit of a store.
    package var entryCount: Int { 4_096 / 8 * share }

    /// The prefix of the keys that coordination writes.
    package static let coordination: KeyPrefix = ".sharedcore/"

    /// The prefixes below ``coordination`` that contain content: the messages of the inbox, of mailboxes and of pushes.
    /// The entry that records a take does not count as content.
    private static let messages: [KeyPrefix] = [
        ".sharedcore/inbox/", ".sharedcore/mailboxes/", ".sharedcore/pushes/", ".sharedcore/main-pushes/",
    ]

    /// The prefix of calls: few records, which expire when their call has ended.
    private static let calls: KeyPrefix = ".sharedcore/calls/"

    /// Returns whether a put belongs to coordination. Any other entry that expires is a message, or belongs to one.
    fileprivate static func isRecord(_ key: Key, _ lifetime: Lifetime) -> Bool {
        guard coordination.contains(key) else { return false }
        return switch lifetime {
        case .session: true
        case .persistent: !messages.contains { $0.contains(key) }
        case .expiring: calls.contains(key)
        }
    }
}

extension StoreState {
    /// Returns the part of the reserve that a commit may use, computed before it is applied.
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
