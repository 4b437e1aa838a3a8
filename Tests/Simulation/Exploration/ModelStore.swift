internal import Coordination
internal import CoreAPI

/// The ownership entries in a store without time: guards, operations and ends of sessions, according to the contract.
struct ModelStore {
    /// No start time lies in the future in a model.
    private static let time = BootInstant(nanoseconds: .max)

    private(set) var revision = Revision(rawValue: 10)
    private(set) var entries: [Key: Entry] = [:]

    /// The ownership entries as a view.
    private(set) var view = OwnershipView()

    private mutating func show() {
        view.apply(Snapshot(revision: revision, entries: Array(entries.values)), at: Self.time)
    }

    /// Returns the view of a participant that sees entries differently; it does not see an entry for which `seen`
    /// returns nil.
    func view(_ seen: (Entry) -> Entry?) -> OwnershipView {
        var view = OwnershipView()
        view.apply(Snapshot(revision: revision, entries: entries.values.compactMap(seen)), at: Self.time)
        return view
    }

    /// Commits a transaction, and returns whether its guards held.
    mutating func commit(_ transaction: Transaction, of session: SessionID) -> Bool {
        guard transaction.guards.allSatisfy(holds) else { return false }
        guard !transaction.operations.isEmpty else { return true }
        revision = Revision(rawValue: revision.rawValue + 1)
        for operation in transaction.operations {
            switch operation {
            case .put(let key, let value, let lifetime):
                entries[key] = Entry(
                    key: key, value: value, revision: revision,
                    creationRevision: entries[key]?.creationRevision ?? revision, lifetime: lifetime, origin: session)
            case .delete(let key): entries[key] = nil
            case .deletePrefix(let prefix): entries = entries.filter { !prefix.contains($0.key) }
            case .post: break
            }
        }
        show()
        return true
    }

    /// Ends a session, and removes the entries that lived with it.
    mutating func end(_ session: SessionID) {
        revision = Revision(rawValue: revision.rawValue + 1)
        entries = entries.filter { $0.value.lifetime != .session || $0.value.origin != session }
        show()
    }

    private func holds(_ condition: Transaction.Guard) -> Bool {
        switch condition {
        case .absent(let key): entries[key] == nil
        case .exists(let key): entries[key] != nil
        case .revision(let key, let revision): entries[key]?.revision == revision
        case .epoch(let key, let claim): entries[key]?.creationRevision == claim
        }
    }
}
