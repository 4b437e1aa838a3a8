internal import Coordination
internal import CoreAPI
internal import Mailboxes

/// The number of processes that have ended while they read each message: killed for their memory or their time, or by a
/// fault of a library. A message that has ended ``limit`` processes is not read any more.
///
/// A starting core counts in the group the messages that ended processes were reading, see
/// ``Maildir/marking(_:while:)``.
struct MailAttempts {
    /// The number of processes that a message may end before it is set aside. It is lower than the number of tries of a
    /// push (`executor.attempts`), and higher than the number of random kills to expect during reads of the same
    /// message.
    static let limit = 3

    private static let path = ".sharedcore/mail-reading/"

    /// The group's record of one message: the number, then the marks that were counted last, with spaces between.
    ///
    /// A mark is removed after the commit that counts it. If the core is killed in between, the next core finds the
    /// mark again: it was counted already if this record names it.
    private struct Record {
        var count: Int
        var marks: [String] = []

        init(count: Int) {
            self.count = count
        }

        /// Reads a record. Any participant can have written it: a number beyond the limit counts as the limit.
        init(_ bytes: [UInt8]) {
            let words = String(decoding: bytes, as: UTF8.self).split(separator: " ").map(String.init)
            count = min(max(0, words.first.flatMap { Int($0) } ?? 1), MailAttempts.limit)
            marks = Array(words.dropFirst())
        }

        var encoded: [UInt8] { Array(([String(count)] + marks).joined(separator: " ").utf8) }
    }

    private let store: any SharedStore
    private var counts: [String: Int] = [:]

    /// Makes a table of attempts, which ``load(standing:marks:)`` fills.
    ///
    /// - Parameter store: The core's own store of the group, so that a superseded core counts nothing.
    init(in store: any SharedStore) {
        self.store = store
    }

    /// Loads the attempts that are stored in the group, and removes those of files that are no longer in the folder.
    ///
    /// - Parameter marks: The marks of processes that have ended. Each counts once, however often it is found.
    mutating func load(
        standing arrivals: Maildir.Arrivals, marks: [Maildir.LeftMark]
    ) async throws(SharedCoreError) {
        // The caller may have called this before, and repeats it after an error.
        counts = [:]
        let standing = Set(arrivals.messages.map(Self.part))
        var changes = Transaction()
        var records: [String: Record] = [:]
        for entry in try await store.list(try KeyPrefix(Self.path)).entries {
            let part = String(entry.key.text.dropFirst(Self.path.count))
            if arrivals.isPartial || standing.contains(part) {
                records[part] = Record(entry.value)
            } else if changes.operations.count < Self.forgottenAtOnce {
                changes.delete(entry.key)
            }
        }
        let left = Dictionary(grouping: marks, by: { Self.part(for: $0.message) })
        for (part, marks) in left where arrivals.isPartial || standing.contains(part) {
            var record = records[part] ?? Record(count: 0)
            let names = marks.map { Self.part(for: $0.name) }
            let uncounted = names.filter { !record.marks.contains($0) }
            if uncounted.isEmpty { continue }
            record.count += uncounted.count
            // Keep ``limit`` marks at most: a message that was counted so often is set aside and not read again.
            record.marks = Array(names.prefix(Self.limit))
            records[part] = record
            changes.put(try Key(Self.path + part), record.encoded)
        }
        counts = records.mapValues(\.count)
        if !changes.operations.isEmpty { _ = try await store.commit(changes) }
    }

    /// The number of outdated records removed in one transaction, whose size is limited. The next core removes the rest.
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
