internal import Coordination
internal import CoreAPI
internal import Mailboxes

/// How often a core has begun to read each message and has not come to its end.
///
/// It is written down in the group before a message is read, and removed afterwards. So what is there when a core starts are the
/// messages that a core was reading when its process ended: killed for its memory or its time, or by a fault of a library. A
/// message that has been there ``limit`` times is read no more.
struct MailAttempts {
    /// How many processes one message may cost. Fewer than a push is tried (`executor.attempts`), and more than chance kills
    /// in the moment of reading the same message.
    static let limit = 3

    private static let path = ".sharedcore/mail-reading/"

    private let store: any SharedStore
    private var counts: [String: Int] = [:]

    /// - Parameter store: The group's store as the core has it, so that a superseded core counts nothing.
    init(in store: any SharedStore) {
        self.store = store
    }

    /// Takes in what other cores have left, and forgets what is not in the folder any more.
    mutating func load(standing names: [FileName]) async throws(SharedCoreError) {
        let standing = Set(names.map(Self.part))
        var gone = Transaction()
        for entry in try await store.list(try KeyPrefix(Self.path)).entries {
            let part = String(entry.key.text.dropFirst(Self.path.count))
            if standing.contains(part) {
                counts[part] = Int(String(decoding: entry.value, as: UTF8.self)) ?? 1
            } else if gone.operations.count < Self.forgottenAtOnce {
                gone.delete(entry.key)
            }
        }
        if !gone.operations.isEmpty { _ = try await store.commit(gone) }
    }

    /// A transaction has a size; the next core forgets the rest.
    private static let forgottenAtOnce = 500

    /// How many processes have ended while they read the message.
    func count(of name: FileName) -> Int { counts[Self.part(for: name)] ?? 0 }

    /// Writes down that the message is being read.
    func begin(_ name: FileName) async throws(SharedCoreError) {
        let part = Self.part(for: name)
        try await store.put(try Key(Self.path + part), Array("\((counts[part] ?? 0) + 1)".utf8))
    }

    /// Removes the note: reading the message has come to its end, whatever it was.
    mutating func end(_ name: FileName) async throws(SharedCoreError) {
        let part = Self.part(for: name)
        let key = try Key(Self.path + part)
        // Not ended with the core's task: a core that is told to stop has not been killed.
        let removal = Task { [store] () async -> SharedCoreError? in
            do throws(SharedCoreError) {
                try await store.delete(key)
                return nil
            } catch {
                return error
            }
        }
        if let error = await removal.value { throw error }
        counts[part] = nil
    }

    private static func part(for name: FileName) -> String { ItemName(name.scalars).text }
}
