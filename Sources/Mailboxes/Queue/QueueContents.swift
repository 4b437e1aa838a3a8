package import CoreAPI

/// The contents of a queue at one revision, as a pure value.
package struct QueueContents: Hashable, Sendable {
    package let keys: QueueKeys
    /// The items with at least one entry in the store.
    package private(set) var items: [ItemName: QueueItem] = [:]
    /// The last write of the key that every send of a bounded queue touches.
    package private(set) var lastSend: Revision?

    /// Creates the contents of a list of entries; entries of other keys are skipped.
    package init(of entries: some Sequence<Entry>, at keys: QueueKeys) {
        self.keys = keys
        for entry in entries { set(entry, at: entry.key) }
    }

    /// The messages that no consumer has taken, the oldest first.
    package var waiting: [(item: ItemName, message: Entry)] { inOrder { $0.take == nil } }

    /// The messages that a consumer has taken, the oldest first.
    package var taken: [(item: ItemName, message: Entry)] { inOrder { $0.take != nil } }

    /// All messages, the oldest first.
    package var inOrder: [Entry] { inOrder { _ in true }.map(\.message) }

    /// The oldest message, taken or not.
    package var oldest: (item: ItemName, message: Entry)? { inOrder { _ in true }.first }

    /// Returns some messages in the order of their commits. Within one commit they are ordered by their names, which
    /// each sender creates in ascending order.
    private func inOrder(_ belongs: (QueueItem) -> Bool) -> [(item: ItemName, message: Entry)] {
        items.compactMap { name, item in
            guard let message = item.message, belongs(item) else { return nil }
            return (name, message)
        }
        .sorted { left, right in
            (left.message.creationRevision, left.item) < (right.message.creationRevision, right.item)
        }
    }

    private mutating func set(_ entry: Entry?, at key: Key) {
        if key == keys.sends {
            lastSend = entry?.revision
        } else if let (name, part) = keys.place(of: key) {
            var item = items[name] ?? QueueItem()
            item[part] = entry
            items[name] = item.isEmpty ? nil : item
        }
    }
}

/// The entries of one message of a queue.
package struct QueueItem: Hashable, Sendable {
    /// The message, until it is acknowledged, dropped or expired.
    package var message: Entry?
    /// The take of the consumer that has it.
    package var take: Entry?
    /// The mark that it was acknowledged.
    package var mark: Entry?
    /// The details that the inbox keeps beside the message.
    package var details: Entry?

    package init(message: Entry? = nil, take: Entry? = nil, mark: Entry? = nil) {
        self.message = message
        self.take = take
        self.mark = mark
    }

    package subscript(part: QueueKeys.Part) -> Entry? {
        get {
            switch part {
            case .message: message
            case .take: take
            case .mark: mark
            case .details: details
            }
        }
        set {
            switch part {
            case .message: message = newValue
            case .take: take = newValue
            case .mark: mark = newValue
            case .details: details = newValue
            }
        }
    }

    package var isEmpty: Bool { message == nil && take == nil && mark == nil && details == nil }
}
