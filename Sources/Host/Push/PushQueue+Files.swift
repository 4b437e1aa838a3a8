internal import Coordination
internal import CoreAPI
internal import Mailboxes

/// The notes on announced messages of the watched Maildir: each message becomes a push once, also when the host is
/// killed.
extension PushQueue {
    private static let announced = ".sharedcore/push-files"

    /// Returns the part of a key for a file's name.
    static func part(for name: String) -> String { ItemName(name).text }

    /// Returns the part of a key for a message of the inbox. File names contain no slash, so the two cannot collide.
    static func part(for callID: CallID) -> String { ItemName("inbox/" + callID.text).text }

    /// Returns the note on each message that has become a push, by its part of a key. The note on a file is the key
    /// part of its message in the inbox, or empty if an earlier version has written it. The note on a message is its
    /// revision in the inbox.
    func knownArrivals() async throws(SharedCoreError) -> [String: String] {
        var known: [String: String] = [:]
        for entry in try await group.list(KeyPrefix(Self.announced + "/")).entries {
            known[String(entry.key.text.dropFirst(Self.announced.count + 1))] = String(
                decoding: entry.value, as: UTF8.self)
        }
        return known
    }

    /// Creates a push for a file or a message of the inbox, and notes it, in one commit.
    ///
    /// - Parameters:
    ///   - callID: The message.
    ///   - part: The part of a key for the file or message.
    ///   - isKnown: True if another message was noted there before and is replaced.
    /// - Returns: True if the push was created; false if it was noted before.
    func announce(
        _ callID: CallID, as part: String, noting note: String, replacing isKnown: Bool = false
    ) async throws(SharedCoreError) -> Bool {
        let (mailbox, bytes) = place(of: Push(callID))
        try await requireRoom(for: bytes.count)
        let key = try Key(Self.announced + "/" + part)
        var transaction = Transaction()
        if !isKnown { transaction.require(.absent(key)) }
        transaction.put(key, Array(note.utf8))
        // A file with the same name may come again after this one is removed, and is then another item.
        try mailbox.addSend(
            of: bytes, as: ItemName("file \(UInt64.random(in: .min ... .max))"), to: &transaction)
        do throws(SharedCoreError) {
            _ = try await group.commit(transaction)
            return true
        } catch {
            guard error.guardFailure?.condition.key == key else { throw error }
            return false
        }
    }

    /// Removes notes, and notes messages of the inbox by their records.
    func forgetArrivals(_ parts: [String], noting messages: [String: String]) async throws(SharedCoreError) {
        var transaction = Transaction()
        for part in parts { transaction.delete(try Key(Self.announced + "/" + part)) }
        for (part, note) in messages { transaction.put(try Key(Self.announced + "/" + part), Array(note.utf8)) }
        if !transaction.operations.isEmpty { _ = try await group.commit(transaction) }
    }
}
