internal import Coordination
internal import CoreAPI
internal import Mailboxes

/// The notes on announced messages of the watched Maildir: each message becomes a push once, also when the host is
/// killed.
extension PushQueue {
    private static let announced = ".sharedcore/push-files"

    /// Returns the part of a key that stands for a file's name.
    static func part(for name: String) -> String { ItemName(name).text }

    /// Returns the part of a key that stands for a message of the inbox. No name of a file has a slash.
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

    /// Makes a file or a message of the inbox a push, in one step with noting that it is one.
    ///
    /// - Parameters:
    ///   - callID: The message.
    ///   - part: The part of a key that stands for it.
    ///   - isKnown: Whether another message was noted there before, which this one replaces.
    /// - Returns: Whether it was not noted before.
    func announce(
        _ callID: CallID, as part: String, noting note: String, replacing isKnown: Bool = false
    ) async throws(SharedCoreError) -> Bool {
        let (mailbox, bytes) = place(of: Push(callID))
        try await requireRoom(for: bytes.count)
        let key = try Key(Self.announced + "/" + part)
        var transaction = Transaction()
        if !isKnown { transaction.require(.absent(key)) }
        transaction.put(key, Array(note.utf8))
        // The same name may come again when its file has gone; the item then is another one.
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

    /// Forgets some that were noted, and notes messages of the inbox by what stands for each.
    func forgetArrivals(_ parts: [String], noting messages: [String: String]) async throws(SharedCoreError) {
        var transaction = Transaction()
        for part in parts { transaction.delete(try Key(Self.announced + "/" + part)) }
        for (part, note) in messages { transaction.put(try Key(Self.announced + "/" + part), Array(note.utf8)) }
        if !transaction.operations.isEmpty { _ = try await group.commit(transaction) }
    }
}
