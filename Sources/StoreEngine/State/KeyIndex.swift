internal import CoreAPI

/// The keys of a store in the order of their bytes, for selections by prefix. Made when first asked for: a participant
/// that only gets and puts never pays for it.
struct KeyIndex: Sendable {
    private var keys: [Key]?

    /// The position of the first key that is not before `key`.
    private static func position(of key: Key, in keys: [Key]) -> Int {
        var low = 0
        var high = keys.count
        while low < high {
            let middle = (low + high) / 2
            if keys[middle] < key { low = middle + 1 } else { high = middle }
        }
        return low
    }

    mutating func insert(_ key: Key) {
        guard let position = keys.map({ Self.position(of: key, in: $0) }) else { return }
        keys?.insert(key, at: position)
    }

    mutating func remove(_ key: Key) {
        guard let position = keys.map({ Self.position(of: key, in: $0) }) else { return }
        keys?.remove(at: position)
    }

    /// How many keys are removed one by one: each moves all behind it.
    private static let singleRemovalCount = 16

    /// Removes keys that are given in their order, many of them in one pass.
    mutating func remove(_ removed: some RandomAccessCollection<Key>) {
        guard let keys, let first = removed.first, let last = removed.last else { return }
        guard removed.count > Self.singleRemovalCount else {
            for key in removed { remove(key) }
            return
        }
        let range = Self.position(of: first, in: keys)..<Self.position(of: last, in: keys) + 1
        var rest = removed[...]
        let kept = keys[range].filter { key in
            guard let next = rest.first, key == next else { return true }
            rest.removeFirst()
            return false
        }
        self.keys?.replaceSubrange(range, with: kept)
    }

    /// Makes the index of `all` unless it is there.
    mutating func prepare(from all: some Collection<Key>) {
        if keys == nil { keys = all.sorted() }
    }

    /// The selected keys in order, or nil when the index was not prepared.
    func selection(of prefix: KeyPrefix) -> [Key]? {
        guard let keys else { return nil }
        let (own, below) = Self.places(of: prefix, in: keys)
        return (own.map { [$0] } ?? []) + keys[below]
    }

    /// Whether a prefix selects any key, or nil when the index was not prepared.
    func hasSelection(of prefix: KeyPrefix) -> Bool? {
        guard let keys else { return nil }
        let (own, below) = Self.places(of: prefix, in: keys)
        return own != nil || !below.isEmpty
    }

    /// The selected key that is the prefix's path itself, and where the others stand. Between the two stands what is not
    /// selected, such as `a/b-` between `a/b` and `a/b/c`, which may be any number of keys.
    private static func places(of prefix: KeyPrefix, in keys: [Key]) -> (own: Key?, below: Range<Int>) {
        guard !prefix.path.isEmpty else { return (nil, keys.indices) }
        var below = prefix
        var own: Key?
        if prefix.path.utf8.last != UInt8(ascii: "/") {
            if let key = try? Key(prefix.path) {
                let place = position(of: key, in: keys)
                if place < keys.count, keys[place] == key { own = key }
            }
            // Too long for a prefix: no key is so long either.
            guard let longer = try? KeyPrefix(prefix.path + "/") else { return (own, 0..<0) }
            below = longer
        }
        guard let first = try? Key(below.path) else { return (own, 0..<0) }
        let start = position(of: first, in: keys)
        var (low, high) = (start, keys.count)
        while low < high {
            let middle = (low + high) / 2
            if below.begins(keys[middle]) { low = middle + 1 } else { high = middle }
        }
        return (own, start..<low)
    }
}
