internal import CoreAPI

/// The keys of a store ordered by their bytes, for selections by prefix. Built at the first use: a participant that
/// only gets and puts never pays for it.
///
/// The keys are stored in chunks, so that inserting or removing one moves only the keys of its chunk and the list of
/// chunks. In one array, a transaction of 65,536 operations would move gigabytes.
struct KeyIndex: Sendable {
    /// The maximum number of keys in a chunk.
    private static let chunkLimit = 512

    /// None of them is empty.
    private var chunks: [[Key]] = []
    private var isPrepared = false

    /// Builds the index of `all` unless it exists.
    mutating func prepare(from all: @autoclosure () -> some Collection<Key>) {
        guard !isPrepared else { return }
        isPrepared = true
        let keys = all().sorted()
        let count = Self.chunkLimit / 2
        chunks = stride(from: 0, to: keys.count, by: count).map { Array(keys[$0..<min($0 + count, keys.count)]) }
    }

    /// Inserts a key that is not in the index.
    mutating func insert(_ key: Key) {
        guard isPrepared else { return }
        guard !chunks.isEmpty else { return chunks = [[key]] }
        let number = chunkNumber(of: key)
        chunks[number].insert(key, at: chunks[number].partitionPoint { $0 < key })
        let count = chunks[number].count
        guard count > Self.chunkLimit else { return }
        chunks.insert(Array(chunks[number][(count / 2)...]), at: number + 1)
        chunks[number].removeSubrange((count / 2)...)
    }

    /// Removes keys that are in the index, given in order.
    mutating func remove(_ removed: some RandomAccessCollection<Key>) {
        var rest = removed[...]
        while let first = rest.first, !chunks.isEmpty {
            let number = chunkNumber(of: first)
            let last = chunks[number][chunks[number].count - 1]
            let here = rest.prefix { $0 == first || !(last < $0) }
            rest = rest[here.endIndex...]
            if here.count == 1 {
                let offset = chunks[number].partitionPoint { $0 < first }
                if offset < chunks[number].count, chunks[number][offset] == first {
                    chunks[number].remove(at: offset)
                }
            } else {
                var next = here[...]
                chunks[number].removeAll { key in
                    guard key == next.first else { return false }
                    next.removeFirst()
                    return true
                }
            }
            if chunks[number].isEmpty { chunks.remove(at: number) }
        }
    }

    /// Returns the selected keys in order. The index must be prepared.
    func selection(of prefix: KeyPrefix) -> [Key] {
        guard !prefix.path.isEmpty else { return Array(chunks.joined()) }
        var selected: [Key] = []
        var below = prefix
        if prefix.path.utf8.last != UInt8(ascii: "/") {
            if let key = try? Key(prefix.path), contains(key) { selected.append(key) }
            // The longer prefix exceeds the maximum size, so no key can begin with it.
            guard let longer = try? KeyPrefix(prefix.path + "/") else { return selected }
            below = longer
        }
        // The key itself and the keys below it may be far apart: for example, `a/b-` is between `a/b` and `a/b/c`.
        guard !chunks.isEmpty, let first = try? Key(below.path) else { return selected }
        var number = chunkNumber(of: first)
        var start = chunks[number].partitionPoint { $0 < first }
        while number < chunks.count {
            let end = chunks[number][start...].partitionPoint { below.begins($0) }
            selected += chunks[number][start..<end]
            guard end == chunks[number].count else { break }
            (number, start) = (number + 1, 0)
        }
        return selected
    }

    private func contains(_ key: Key) -> Bool {
        guard !chunks.isEmpty else { return false }
        let chunk = chunks[chunkNumber(of: key)]
        let offset = chunk.partitionPoint { $0 < key }
        return offset < chunk.count && chunk[offset] == key
    }

    /// Returns the chunk that contains a key, or would contain it. There must be a chunk.
    private func chunkNumber(of key: Key) -> Int {
        max(0, chunks.partitionPoint { !(key < $0[0]) } - 1)
    }
}

extension RandomAccessCollection where Index == Int {
    /// Returns the index of the first element that does not satisfy the predicate. All earlier elements must satisfy
    /// it, and no later one.
    fileprivate func partitionPoint(where isBefore: (Element) -> Bool) -> Int {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = (low + high) / 2
            if isBefore(self[middle]) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
