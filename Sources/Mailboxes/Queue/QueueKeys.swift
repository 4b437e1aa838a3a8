package import CoreAPI

/// The keys of a queue in the store.
///
/// All entries of one message are under one path, so that they can be read at one revision and watched separately:
///
/// | key | what | lives |
/// |---|---|---|
/// | `<path>/<item>/m` | the message | until acknowledged, or for the queue's lifetime |
/// | `<path>/<item>/t` | the take of the consumer that holds the item | with the taker's session |
/// | `<path>/<item>/a` | the mark that it was acknowledged | for the queue's mark lifetime |
/// | `<path>/<item>/d` | what the inbox keeps beside a message | as the message |
/// | `<path>/%sends` | written by every send of a bounded queue | as long as the queue |
package struct QueueKeys: Hashable, Sendable {
    /// The parts of an item.
    package enum Part: String, Hashable, Sendable {
        case message = "m"
        case take = "t"
        case mark = "a"
        case details = "d"
    }

    /// The longest path, in bytes, that leaves space for every item name.
    package static let maximumPathByteCount = Key.maximumByteCount - ItemName.maximumByteCount - 3

    /// The path of the queue.
    package let path: String
    /// Selects all keys of the queue.
    package let prefix: KeyPrefix
    /// Written by every send of a bounded queue, so that two sends that rely on the same count cannot both succeed.
    package let sends: Key
    /// True if the key of an item may lie below that of another one, as those of messages of one call-id do in the
    /// inbox.
    private let isNested: Bool

    package init(path: String, isNested: Bool = false) throws(SharedCoreError) {
        let count = path.utf8.count
        guard count > 0, count <= Self.maximumPathByteCount, path.utf8.last != UInt8(ascii: "/") else {
            throw SharedCoreError(
                .invalidArgument,
                "The path of a mailbox has 1 to \(Self.maximumPathByteCount) bytes and no “/” at its end.",
                at: path)
        }
        self.path = path
        self.isNested = isNested
        prefix = try KeyPrefix(path + "/")
        sends = try Key(path + "/%sends")
    }

    package func key(of part: Part, for item: ItemName) throws(SharedCoreError) -> Key {
        try Key(path + "/" + item.text + "/" + part.rawValue)
    }

    /// Returns the prefix of all entries of one item.
    package func prefix(of item: ItemName) throws(SharedCoreError) -> KeyPrefix {
        try KeyPrefix(path + "/" + item.text + "/")
    }

    /// Returns the item and the part that a key belongs to; nil if it is no part of an item.
    package func place(of key: Key) -> (item: ItemName, part: Part)? {
        let name = key.text.utf8
        guard prefix.contains(key), name.count >= path.utf8.count + 4 else { return nil }
        let start = name.index(name.startIndex, offsetBy: path.utf8.count + 1)
        let end = name.index(name.endIndex, offsetBy: -2)
        guard let part = Part(endOf: key),
            name[start..<end].count(where: { $0 == UInt8(ascii: "/") }) <= (isNested ? 1 : 0)
        else { return nil }
        return (ItemName(part: Substring(name[start..<end])), part)
    }
}

extension QueueKeys.Part {
    /// Determines the part by the last two bytes of a key.
    init?(endOf key: Key) {
        let end = key.text.utf8.suffix(2)
        guard end.count == 2, end.first == UInt8(ascii: "/"), let last = end.last else { return nil }
        switch last {
        case UInt8(ascii: "m"): self = .message
        case UInt8(ascii: "t"): self = .take
        case UInt8(ascii: "a"): self = .mark
        case UInt8(ascii: "d"): self = .details
        default: return nil
        }
    }
}

extension QueueKeys {
    /// Returns the oldest message that no consumer has taken, among the entries of a snapshot of the queue.
    ///
    /// One pass: in the order of keys, the take of a message follows it directly. Only the key of a message that is
    /// older than all before is parsed.
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
