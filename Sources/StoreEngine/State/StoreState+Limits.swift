package import CoreAPI

extension StoreState {
    /// Refuses a transaction that exceeds the limits of the store. A transaction that only removes is never refused.
    package func checkLimits(of transaction: Transaction) throws(SharedCoreError) {
        let stepCount = transaction.guards.count + transaction.operations.count
        guard stepCount <= Self.stepLimit else {
            throw SharedCoreError(
                .limitExceeded,
                "A transaction has at most \(Self.stepLimit) guards and operations, this one has \(stepCount).",
                at: "transaction")
        }
        var total = 0
        var newEntryCount = 0
        var newNames: Set<NotificationName> = []
        for operation in transaction.operations {
            switch operation {
            case .put(let key, let value, let lifetime):
                guard value.count <= limits.valueByteCount else {
                    throw .limit("A value", value.count, limits.valueByteCount, at: key.text)
                }
                if case .expiring(let duration) = lifetime, duration <= .zero {
                    throw SharedCoreError(
                        .invalidArgument, "An entry expires after a duration above zero, not \(duration).", at: key.text
                    )
                }
                total += key.text.utf8.count + value.count
                if entries.index(forKey: key) == nil { newEntryCount += 1 }
            case .delete(let key): total += key.text.utf8.count
            case .deletePrefix(let prefix): total += prefix.path.utf8.count
            case .post(let name, _):
                total += name.text.utf8.count
                if topics[name] == nil { newNames.insert(name) }
            }
        }
        guard total <= limits.transactionByteCount else {
            throw .limit("A transaction", total, limits.transactionByteCount, at: "transaction")
        }
        if !newNames.isEmpty { try checkNames(of: transaction, newNames) }
        guard byteCount + total > limits.storeByteCount || entries.count + newEntryCount > limits.entryCount else {
            return
        }
        let after = sizeAfter(transaction.operations)
        let claim = claim(of: transaction.operations)
        let byteLimit = limits.storeByteCount + claim.byteCount
        guard after.byteCount <= byteLimit || after.byteCount <= byteCount else {
            throw .limit("The store", after.byteCount, limits.storeByteCount, at: "store")
        }
        let entryLimit = limits.entryCount + claim.entryCount
        guard after.entryCount <= entryLimit || after.entryCount <= entries.count else {
            throw SharedCoreError(
                .limitExceeded,
                "The store has at most \(limits.entryCount) entries, this one would have \(after.entryCount). Delete some, "
                    + "or keep several in one value.", at: "store")
        }
    }

    /// Refuses new names that do not fit even after others are forgotten.
    private func checkNames(
        of transaction: Transaction, _ newNames: Set<NotificationName>
    ) throws(SharedCoreError) {
        if forgetsNames {
            var posted = newNames
            for case .post(let name, _) in transaction.operations { posted.insert(name) }
            guard !topics.hasRoom(for: posted) else { return }
        } else if topics.count + newNames.count <= Self.topicLimit {
            return
        }
        throw SharedCoreError(
            .limitExceeded,
            "A store keeps at most \(Self.topicLimit) notification names of together at most \(TopicTable.byteLimit) bytes, "
                + "and forgets only names whose state word is 0.", at: "notifications")
    }

    /// Returns the size of the store once the operations are applied.
    private func sizeAfter(_ operations: [Transaction.Operation]) -> (byteCount: Int, entryCount: Int) {
        /// The sizes of the entries that the operations have written so far; nil for removed keys.
        var sizes: [Key: Int?] = [:]
        var total = (byteCount: byteCount, entryCount: entries.count)
        /// The keys that exist after each operation, if a prefix requires them.
        var present = index
        if operations.contains(where: \.isPrefixDeletion) { present.prepare(from: entries.keys) }
        func size(_ key: Key) -> Int? {
            sizes[key] ?? entries[key].map { key.text.utf8.count + $0.value.count }
        }
        func set(_ key: Key, _ size: Int?, was: Int?) {
            total.byteCount += (size ?? 0) - (was ?? 0)
            total.entryCount += (size == nil ? 0 : 1) - (was == nil ? 0 : 1)
            sizes.updateValue(size, forKey: key)
        }
        for operation in operations {
            switch operation {
            case .put(let key, let value, _):
                let former = size(key)
                if former == nil { present.insert(key) }
                set(key, key.text.utf8.count + value.count, was: former)
            case .delete(let key):
                guard let former = size(key) else { continue }
                present.remove(CollectionOfOne(key))
                set(key, nil, was: former)
            case .deletePrefix(let prefix):
                let selected = present.selection(of: prefix)
                for key in selected { set(key, nil, was: size(key)) }
                present.remove(selected)
            case .post: break
            }
        }
        return total
    }
}

extension Transaction.Operation {
    var isPrefixDeletion: Bool {
        if case .deletePrefix = self { true } else { false }
    }
}

extension SharedCoreError {
    static func limit(_ what: String, _ found: Int, _ limit: Int, at location: String) -> SharedCoreError {
        SharedCoreError(
            .limitExceeded, "\(what) has at most \(limit) bytes, this one would have \(found).", at: location)
    }
}
