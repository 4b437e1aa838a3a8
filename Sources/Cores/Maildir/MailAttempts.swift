internal import Coordination
internal import CoreAPI
internal import Mailboxes

/// The number of processes that have ended while they read each message: killed for their memory or their time, or by a
/// fault of a library. A message that has ended ``limit`` is read no more.
///
/// A core that starts counts in the group the messages that its predecessors were reading, see
/// ``Maildir/marking(_:while:)``.
struct MailAttempts {
    /// The number of processes that one message may cost. Fewer than a push is tried (`executor.attempts`), and more
    /// than chance kills in the moment of reading the same message.
    static let limit = 3

    private static let path = ".sharedcore/mail-reading/"

    private let store: any SharedStore
    private var counts: [String: Int] = [:]

    /// - Parameter store: The group's store as the core has it, so that a superseded core counts nothing.
    init(in store: any SharedStore) {
        self.store = store
    }

    /// Loads the attempts that the group knows, and forgets those of files that are not in the folder any more.
    ///
    /// - Parameter marked: The messages that processes were reading when they ended, once for each.
    mutating func load(standing arrivals: Maildir.Arrivals, marked: [FileName]) async throws(SharedCoreError) {
        // It may be tried again.
        counts = [:]
        let standing = Set(arrivals.messages.map(Self.part))
        var changes = Transaction()
        for entry in try await store.list(try KeyPrefix(Self.path)).entries {
            let part = String(entry.key.text.dropFirst(Self.path.count))
            if arrivals.isPartial || standing.contains(part) {
                // Any participant can have written it: beyond the limit no number says more.
                let count = Int(String(decoding: entry.value, as: UTF8.self)) ?? 1
                counts[part] = min(max(0, count), Self.limit)
            } else if changes.operations.count < Self.forgottenAtOnce {
                changes.delete(entry.key)
            }
        }
        let counted = marked.map(Self.part).filter { arrivals.isPartial || standing.contains($0) }
        for part in counted { counts[part, default: 0] += 1 }
        for part in Set(counted) { changes.put(try Key(Self.path + part), Array("\(counts[part, default: 0])".utf8)) }
        if !changes.operations.isEmpty { _ = try await store.commit(changes) }
    }

    /// A transaction has a size; the next core forgets the rest.
    private static let forgottenAtOnce = 500

    /// Returns the number of processes that have ended while they read the message.
    func count(of name: FileName) -> Int { counts[Self.part(for: name)] ?? 0 }

    /// Forgets the message: it was read to its end, or is set aside.
    mutating func forget(_ name: FileName) async throws(SharedCoreError) {
        let part = Self.part(for: name)
        guard counts[part] != nil else { return }
        try await store.delete(try Key(Self.path + part))
        counts[part] = nil
    }

    private static func part(for name: FileName) -> String { ItemName(name.scalars).text }
}
