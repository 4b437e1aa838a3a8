package import CoreAPI

extension QueueKeys {
    /// The oldest message that nobody has in hand, among the entries of a snapshot of the queue.
    ///
    /// One pass: in the order of keys, the take of a message comes right behind it. Only a message that is older than
    /// all before has its key looked into.
    package func oldestWaiting(in entries: [Entry]) -> (item: ItemName, message: Entry)? {
        var oldest: (item: ItemName, message: Entry)?
        for (index, entry) in entries.enumerated() where Part(endOf: entry.key) == .message {
            if index + 1 < entries.count, isTake(entries[index + 1].key, of: entry.key) { continue }
            if let known = oldest?.message,
                (known.creationRevision, known.key) < (entry.creationRevision, entry.key)
            {
                continue
            }
            guard let item = place(of: entry.key)?.item else { continue }
            oldest = (item, entry)
        }
        return oldest
    }

    private func isTake(_ key: Key, of message: Key) -> Bool {
        Part(endOf: key) == .take && key.text.utf8.dropLast().elementsEqual(message.text.utf8.dropLast())
    }
}
