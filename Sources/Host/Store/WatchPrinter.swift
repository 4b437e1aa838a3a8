internal import CoreAPI

/// Prints what a watch delivers, up to a number of lines.
struct WatchPrinter {
    let output: Output
    let showsReserved: Bool
    /// How many lines are still wanted; nil for all.
    var remaining: Int?

    /// Prints an event. True when no more lines are wanted.
    mutating func print(_ event: WatchEvent) async throws -> Bool {
        switch event {
        case .snapshot(let snapshot):
            return try await print(snapshot)
        case .lagged(let snapshot):
            if try await print("lagged", nil, nil, snapshot.revision) { return true }
            return try await print(snapshot)
        case .changes(let set):
            for change in set.changes where showsReserved || !ReservedPath.contains(change.key) {
                if try await print(name(of: change.kind), change.key, change.new?.value, set.revision) { return true }
            }
            return false
        }
    }

    private mutating func print(_ snapshot: Snapshot) async throws -> Bool {
        for entry in snapshot.entries where showsReserved || !ReservedPath.contains(entry.key) {
            if try await print("put", entry.key, entry.value, entry.revision) { return true }
        }
        return false
    }

    private mutating func print(
        _ kind: String, _ key: Key?, _ value: [UInt8]?, _ revision: Revision
    ) async throws -> Bool {
        try await output.emit(
            text: StoreLine.text(kind: kind, key: key, value: value, revision: revision),
            json: StoreLine.json(kind: kind, key: key, value: value, revision: revision))
        guard let left = remaining else { return false }
        remaining = left - 1
        return left <= 1
    }

    private func name(of kind: Change.Kind) -> String {
        switch kind {
        case .put: "put"
        case .deleted: "deleted"
        case .expired: "expired"
        case .sessionEnded: "sessionEnded"
        }
    }
}
