#if Etcd
    internal import CoreAPI
    internal import FoundationEssentials

    /// The result of a transaction for each key and name: a server changes each of them at most once in a transaction.
    struct TransactionPlan {
        enum Step {
            /// `again`: the present entry is removed first, so that it is another entry.
            case put(Key, [UInt8], Lifetime, again: Bool)
            case delete(Key)
            case deletePrefix(KeyPrefix)
            case post(NotificationName, count: UInt64, state: UInt64?)
            /// The operation has no effect, because a later one removes its prefix.
            case nothing
        }

        private(set) var steps: [Step] = []
        /// True if the transaction changes something in every state of the group.
        private(set) var alwaysChanges = false

        private var positions: [Key: Int] = [:]
        private var names: [NotificationName: Int] = [:]
        private var prefixes: Set<KeyPrefix> = []

        init(_ operations: [Transaction.Operation]) {
            for operation in operations {
                switch operation {
                case .put(let key, let value, let lifetime): put(key, value, lifetime)
                case .delete(let key): delete(key)
                case .deletePrefix(let prefix): delete(prefix)
                case .post(let name, let state): post(name, state)
                }
            }
        }

        /// The names that are posted more than once.
        var repeatedNames: [NotificationName] {
            names.compactMap { name, position in
                if case .post(_, let count, _) = steps[position], count > 1 { name } else { nil }
            }
        }

        /// Returns the ranges of removed entries, without the keys that are put into them.
        func removed(in keys: Keyspace) -> [Range<KeyBound>] {
            let kept = prefixes.isEmpty ? [] : putKeys
            return steps.flatMap { step -> [Range<KeyBound>] in
                switch step {
                case .delete(let key): [keys.only(key)]
                case .deletePrefix(let prefix): keys.selected(by: prefix, without: kept)
                case .put, .post, .nothing: []
                }
            }
        }

        /// The keys that are put, in order.
        var putKeys: [Key] {
            positions.compactMap { key, position in
                if case .put = steps[position] { key } else { nil }
            }.sorted()
        }

        private mutating func put(_ key: Key, _ value: [UInt8], _ lifetime: Lifetime) {
            alwaysChanges = true
            guard let position = positions[key] else {
                let again = prefixes.contains { $0.contains(key) }
                positions[key] = steps.count
                steps.append(.put(key, value, lifetime, again: again))
                return
            }
            var again = true
            if case .put(_, _, _, let before) = steps[position] { again = before }
            steps[position] = .put(key, value, lifetime, again: again)
        }

        private mutating func delete(_ key: Key) {
            guard let position = positions[key] else {
                positions[key] = steps.count
                steps.append(.delete(key))
                return
            }
            steps[position] = .delete(key)
        }

        private mutating func delete(_ prefix: KeyPrefix) {
            for (key, position) in positions where prefix.contains(key) {
                steps[position] = .nothing
                positions[key] = nil
            }
            if prefixes.insert(prefix).inserted { steps.append(.deletePrefix(prefix)) }
        }

        private mutating func post(_ name: NotificationName, _ state: UInt64?) {
            alwaysChanges = true
            guard let position = names[name], case .post(_, let count, let before) = steps[position] else {
                names[name] = steps.count
                steps.append(.post(name, count: 1, state: state))
                return
            }
            steps[position] = .post(name, count: count + 1, state: state ?? before)
        }
    }

    extension Keyspace {
        /// Returns the range of a single entry.
        func only(_ key: Key) -> Range<KeyBound> {
            let start = entry(key)
            return KeyBound(start)..<KeyBound(start + [0])
        }

        /// Returns the ranges of the entries that a prefix selects, without some.
        func selected(by prefix: KeyPrefix, without kept: [Key]) -> [Range<KeyBound>] {
            var ranges: [Range<KeyBound>]
            if prefix.path.isEmpty {
                ranges = [all(.entry)]
            } else {
                let path = Array(prefix.path.utf8)
                let within = path.last == 0x2f ? path : path + [0x2f]
                ranges = [
                    KeyBound(key(.entry, within))..<KeyBound(key(.entry, within.dropLast() + [0x30]))
                ]
                if path.last != 0x2f {
                    let itself = key(.entry, path)
                    ranges.insert(KeyBound(itself)..<KeyBound(itself + [0]), at: 0)
                }
            }
            let holes = kept.filter(prefix.contains).map(only).sorted { $0.lowerBound < $1.lowerBound }
            guard !holes.isEmpty else { return ranges }
            return ranges.flatMap { range -> [Range<KeyBound>] in
                var parts: [Range<KeyBound>] = []
                var start = range.lowerBound
                for hole in holes where range.contains(hole.lowerBound) {
                    if start < hole.lowerBound { parts.append(start..<hole.lowerBound) }
                    start = hole.upperBound
                }
                if start < range.upperBound { parts.append(start..<range.upperBound) }
                return parts
            }
        }
    }
#endif
