package import CoreAPI

extension StoreState {
    /// Refuses what is larger than the store accepts. What only removes is never refused.
    package func checkLimits(of transaction: Transaction) throws(SharedCoreError) {
        let stepCount = transaction.guards.count + transaction.operations.count
        guard stepCount <= Self.stepLimit else {
            throw SharedCoreError(
                .limitExceeded,
                "A transaction has at most \(Self.stepLimit) guards and operations, this one has \(stepCount).",
                at: "transaction")
        }
        var total = 0
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
        guard byteCount + total > limits.storeByteCount else { return }
        let after = byteCountAfter(transaction.operations)
        guard after <= limits.storeByteCount || after <= byteCount else {
            throw .limit("The store", after, limits.storeByteCount, at: "store")
        }
    }

    /// Refuses names for which none can be forgotten.
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

    /// The bytes of the store once the operations are applied.
    private func byteCountAfter(_ operations: [Transaction.Operation]) -> Int {
        var sizes: [Key: Int] = [:]
        var total = byteCount
        /// The keys that are there after each operation. A size of 0 is that of a key that is not.
        var present = index
        if operations.contains(where: { if case .deletePrefix = $0 { true } else { false } }) {
            present.prepare(from: entries.keys)
        }
        func size(_ key: Key) -> Int {
            sizes[key] ?? entries[key].map { key.text.utf8.count + $0.value.count } ?? 0
        }
        func set(_ key: Key, _ size: Int, was: Int) {
            total += size - was
            sizes[key] = size
        }
        for operation in operations {
            switch operation {
            case .put(let key, let value, _):
                let former = size(key)
                if former == 0 { present.insert(key) }
                set(key, key.text.utf8.count + value.count, was: former)
            case .delete(let key):
                let former = size(key)
                if former > 0 { present.remove(key) }
                set(key, 0, was: former)
            case .deletePrefix(let prefix):
                let selected = present.selection(of: prefix) ?? []
                for key in selected { set(key, 0, was: size(key)) }
                present.remove(selected)
            case .post: break
            }
        }
        return total
    }
}

extension SharedCoreError {
    static func limit(_ what: String, _ found: Int, _ limit: Int, at location: String) -> SharedCoreError {
        SharedCoreError(
            .limitExceeded, "\(what) has at most \(limit) bytes, this one would have \(found).", at: location)
    }
}
