package import CoreAPI

/// The order of a queue's messages that no consumer has taken, kept up to date by a watch. It stores names only.
package struct QueueOrder: Sendable {
    private struct Place: Comparable {
        let revision: Revision
        let item: ItemName

        static func < (left: Place, right: Place) -> Bool {
            (left.revision, left.item) < (right.revision, right.item)
        }
    }

    private let keys: QueueKeys
    /// The commit that stored each message.
    private var messages: [ItemName: Revision] = [:]
    private var taken: Set<ItemName> = []
    /// The waiting messages, in ascending order.
    private var waiting: [Place] = []

    package init(at keys: QueueKeys) {
        self.keys = keys
    }

    /// The oldest waiting message.
    package var first: ItemName? { waiting.first?.item }

    /// Leaves out the oldest message until the watch reports a change of it. Call this after an attempt to take the
    /// message.
    package mutating func dropFirst() {
        waiting.removeFirst()
    }

    package mutating func apply(_ event: WatchEvent) {
        switch event {
        case .snapshot(let snapshot), .lagged(let snapshot):
            self = QueueOrder(at: keys)
            for entry in snapshot.entries { note(entry, at: entry.key) }
            waiting = messages.filter { !taken.contains($0.key) }.map { Place(revision: $0.value, item: $0.key) }
            waiting.sort()
        case .changes(let set):
            for change in set.changes {
                guard let item = keys.place(of: change.key)?.item else { continue }
                if let revision = messages[item] { remove(Place(revision: revision, item: item)) }
                note(change.new, at: change.key)
                if let revision = messages[item], !taken.contains(item) {
                    insert(Place(revision: revision, item: item))
                }
            }
        }
    }

    private mutating func note(_ entry: Entry?, at key: Key) {
        guard let (item, part) = keys.place(of: key) else { return }
        switch part {
        case .message: messages[item] = entry?.creationRevision
        case .take where entry != nil: taken.insert(item)
        case .take: taken.remove(item)
        case .mark, .details: break
        }
    }

    private mutating func insert(_ place: Place) {
        let index = firstIndex(from: place)
        if index == waiting.count || waiting[index] != place { waiting.insert(place, at: index) }
    }

    private mutating func remove(_ place: Place) {
        let index = firstIndex(from: place)
        if index < waiting.count, waiting[index] == place { waiting.remove(at: index) }
    }

    /// Returns the index of the first place that does not come before `place`.
    private func firstIndex(from place: Place) -> Int {
        var range = 0..<waiting.count
        while !range.isEmpty {
            let middle = (range.lowerBound + range.upperBound) / 2
            range = waiting[middle] < place ? middle + 1..<range.upperBound : range.lowerBound..<middle
        }
        return range.lowerBound
    }
}
