internal import Coordination
internal import CoreAPI
internal import Mailboxes

/// The files of the watched Maildir: each becomes a push once, whatever happens to the host.
extension PushQueue {
    private static let files = ".sharedcore/push-files"

    /// What stands for a file's name in a key.
    static func part(for name: String) -> String { ItemName(name).text }

    /// The files that have become pushes and may still be there, by what stands for their names.
    func knownFiles() async throws(SharedCoreError) -> Set<String> {
        let entries = try await group.list(KeyPrefix(Self.files + "/")).entries
        return Set(entries.map { String($0.key.text.dropFirst(Self.files.count + 1)) })
    }

    /// Makes a file a push, in one step with writing down that it is one. A file without a call-id is only written down.
    ///
    /// - Returns: Whether it was not one before.
    func send(_ callID: CallID?, file part: String) async throws(SharedCoreError) -> Bool {
        if callID != nil { try await requireRoom() }
        let key = try Key(Self.files + "/" + part)
        var transaction = Transaction()
        transaction.require(.absent(key))
        transaction.put(key, [])
        if let callID {
            // The same name may come again when its file has gone; the item then is another one.
            try pending.addSend(
                of: push(for: callID).bytes, as: ItemName("file \(UInt64.random(in: .min ... .max))"), to: &transaction)
        }
        do throws(SharedCoreError) {
            _ = try await group.commit(transaction)
            return true
        } catch {
            guard error.guardFailure?.condition.key == key else { throw error }
            return false
        }
    }

    /// Forgets files that are not there any more.
    func forgetFiles(_ parts: some Sequence<String>) async throws(SharedCoreError) {
        var transaction = Transaction()
        for part in parts { transaction.delete(try Key(Self.files + "/" + part)) }
        if !transaction.operations.isEmpty { _ = try await group.commit(transaction) }
    }
}
