#if Etcd
    internal import CoreAPI
    internal import FoundationEssentials
    internal import StoreEngine

    /// The guards of a transaction as comparisons on the server, and their result on the entries found there.
    struct GuardPlan {
        /// The maximum number of different guards that fit into a request beside its steps.
        static let limit = 36

        /// Each different guard once, with its index among all.
        let guards: [(index: Int, condition: Transaction.Guard)]

        init(_ all: [Transaction.Guard]) throws(SharedCoreError) {
            var seen: Set<Transaction.Guard> = []
            var guards: [(index: Int, condition: Transaction.Guard)] = []
            for (index, condition) in all.enumerated() where seen.insert(condition).inserted {
                guards.append((index, condition))
            }
            guard guards.count <= Self.limit else {
                throw SharedCoreError(
                    .limitExceeded,
                    "A transaction on etcd has at most \(Self.limit) different guards, this one has \(guards.count).",
                    at: "transaction")
            }
            self.guards = guards
        }

        /// The keys of the guards.
        var keys: Set<Key> { Set(guards.map(\.condition.key)) }

        /// Returns the comparisons.
        ///
        /// - Parameter madeAgain: The known revisions of creations that etcd reports as changes.
        func compares(in keys: Keyspace, madeAgain: (Key) -> Revision?) -> [Etcdserverpb_Compare] {
            guards.flatMap { (_, condition) -> [Etcdserverpb_Compare] in
                let entry = keys.entry(condition.key)
                switch condition {
                case .absent: return [.absent(entry)]
                case .exists: return [.exists(entry)]
                case .revision(_, let revision):
                    // An absent key has revision 0 in etcd.
                    return revision == .zero
                        ? [.exists(entry), .absent(entry)] : [.modified(entry, at: revision.etcd)]
                case .epoch(_, let epoch):
                    // No etcd revision is that large.
                    if epoch == .zero || epoch.etcd == .max { return [.exists(entry), .absent(entry)] }
                    let creation = keys.creation(condition.key)
                    if madeAgain(condition.key) == epoch {
                        return [
                            .exists(entry), .modified(creation, at: epoch.etcd),
                            .created(entry, at: epoch.etcd + 1, .less),
                        ]
                    }
                    return [.created(entry, at: epoch.etcd), .modified(creation, at: epoch.etcd + 1, .less)]
                }
            }
        }

        /// Returns the first guard that does not hold for the found entries.
        func firstFailure(on found: FoundKeys, in keys: Keyspace) throws(SharedCoreError) -> GuardFailure? {
            for (index, condition) in guards {
                let entry = try found.entry(condition.key, in: keys)
                let holds =
                    switch condition {
                    case .absent: entry == nil
                    case .exists: entry != nil
                    case .revision(_, let revision): entry?.revision == revision
                    case .epoch(_, let epoch): entry?.creationRevision == epoch
                    }
                if !holds { return GuardFailure(index: index, condition: condition, found: entry) }
            }
            return nil
        }
    }

    /// The entries that a server found under the requested keys.
    struct FoundKeys {
        private var found: [Data: Mvccpb_KeyValue] = [:]

        init(_ responses: [Etcdserverpb_ResponseOp]) {
            for response in responses {
                for pair in response.responseRange.kvs { found[pair.key] = pair }
            }
        }

        subscript(key: Data) -> Mvccpb_KeyValue? { found[key] }

        /// Returns all keys of a kind.
        func all(_ kind: Keyspace.Kind, in keys: Keyspace) -> [(name: [UInt8], pair: Mvccpb_KeyValue)] {
            found.compactMap { key, pair in
                guard let (found, name) = keys.split(key), found == kind else { return nil }
                return (name, pair)
            }
        }

        func entry(_ key: Key, in keys: Keyspace) throws(SharedCoreError) -> Entry? {
            guard let pair = found[keys.entry(key)] else { return nil }
            let record = try EntryRecord(pair.value)
            let creation = max(pair.createRevision, found[keys.creation(key)]?.modRevision ?? 0)
            return Entry(
                key: key, value: record.value, revision: Revision(etcd: pair.modRevision),
                creationRevision: Revision(etcd: creation), lifetime: record.lifetime, origin: record.origin)
        }
    }
#endif
