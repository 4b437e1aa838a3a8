internal import CoreAPI

/// The plainest correct store: an independent second opinion on the engine.
struct PlainStore {
    struct PlainEntry: Equatable {
        var value: [UInt8]
        var revision: UInt64
        var creation: UInt64
        var lifetime: Lifetime
        var origin: UInt64
        var written: UInt64
    }

    private(set) var entries: [String: PlainEntry] = [:]
    private(set) var posts: [String: (state: UInt64, count: Int)] = [:]
    private(set) var revision: UInt64 = 0
    /// Texts are compared by their bytes here as well.
    private func id(_ text: String) -> String { text.utf8.map { String($0, radix: 16) }.joined(separator: ".") }

    subscript(_ key: Key) -> PlainEntry? { entries[id(key.text)] }

    mutating func open() -> UInt64 {
        revision += 1
        return revision
    }

    mutating func end(_ session: UInt64) {
        revision += 1
        entries = entries.filter { !($0.value.lifetime == .session && $0.value.origin == session) }
    }

    /// Removes the entries that have expired, and returns true if there were any.
    mutating func expire(at now: UInt64) -> Bool {
        let due = entries.filter { _, entry in
            guard case .expiring(let duration) = entry.lifetime else { return false }
            return now >= entry.written + duration.clampedNanoseconds
        }
        guard !due.isEmpty else { return false }
        revision += 1
        for key in due.keys { entries[key] = nil }
        return true
    }

    /// Applies a transaction: nil when a guard fails, else whether it changed anything.
    mutating func commit(_ transaction: Transaction, of session: UInt64, at now: UInt64) -> Bool? {
        for condition in transaction.guards {
            let found = self[condition.key]
            switch condition {
            case .absent: if found != nil { return nil }
            case .exists: if found == nil { return nil }
            case .revision(_, let revision): if found?.revision != revision.rawValue { return nil }
            case .epoch(_, let revision): if found?.creation != revision.rawValue { return nil }
            }
        }
        var changed = false
        let next = revision + 1
        for operation in transaction.operations {
            switch operation {
            case .put(let key, let value, let lifetime):
                entries[id(key.text)] = PlainEntry(
                    value: value, revision: next, creation: self[key]?.creation ?? next, lifetime: lifetime,
                    origin: session, written: now)
                changed = true
            case .delete(let key):
                changed = entries.removeValue(forKey: id(key.text)) != nil || changed
            case .deletePrefix(let prefix):
                let path = id(prefix.path)
                for key in entries.keys where key == path || key.hasPrefix(path + ".2f.") || key == path + ".2f" {
                    entries[key] = nil
                    changed = true
                }
            case .post(let name, let state):
                let known = posts[id(name.text)] ?? (0, 0)
                posts[id(name.text)] = (state ?? known.state, known.count + 1)
                changed = true
            }
        }
        if changed { revision = next }
        return changed
    }
}
