package import CoreAPI

/// One step in the order of a group's changes. Every replica applies it.
package struct Effect: Sendable {
    /// The effect's position in the order.
    package let revision: Revision
    /// The time at which it was evaluated, on the clock of the evaluating machine's boot.
    package let time: BootInstant
    /// The effect's change.
    package let body: Body
    /// The number that a connection gave the transaction; nil for a transaction without a connection.
    package let delivery: UInt64?

    package init(revision: Revision, time: BootInstant, body: Body, delivery: UInt64? = nil) {
        self.revision = revision
        self.time = time
        self.body = body
        self.delivery = delivery
    }

    /// The change that an effect makes.
    package enum Body: Sendable {
        /// A participant joined.
        case sessionOpened(SessionOpening)
        /// A transaction took effect.
        case committed(SessionID, requestNumber: UInt64?, [Operation])
        /// A numbered transaction was refused; recorded so that a retry is refused as well.
        case refused(SessionID, requestNumber: UInt64, GuardFailure)
        /// A session ended.
        case sessionEnded(SessionID)
        /// Entries have expired.
        case expired([Key])
        /// The computer was started again, or a backup was restored.
        case restarted(BootID)
    }

    /// One operation of a transaction that took effect.
    package enum Operation: Sendable {
        case put(Key, StoredValue, Lifetime)
        case delete(Key)
        case deletePrefix(KeyPrefix)
        case post(NotificationName, state: UInt64?)

        init(_ operation: Transaction.Operation) {
            self =
                switch operation {
                case .put(let key, let value, let lifetime): .put(key, .inline(value), lifetime.recordable)
                case .delete(let key): .delete(key)
                case .deletePrefix(let prefix): .deletePrefix(prefix)
                case .post(let name, let state): .post(name, state: state)
                }
        }
    }
}

extension Effect: OrderElement {
    package var residentByteCount: Int {
        switch body {
        case .committed(_, _, let operations):
            operations.reduce(96) { sum, operation in
                switch operation {
                case .put(let key, let value, _): sum + 48 + key.text.utf8.count + value.residentByteCount
                case .delete(let key): sum + 48 + key.text.utf8.count
                case .deletePrefix(let prefix): sum + 48 + prefix.path.utf8.count
                case .post(let name, _): sum + 48 + name.text.utf8.count
                }
            }
        case .refused(_, _, let failure): 192 + (failure.found?.value.count ?? 0)
        case .expired(let keys): keys.reduce(96) { $0 + 16 + $1.text.utf8.count }
        case .sessionOpened(let opening): 256 + opening.backendData.count
        case .sessionEnded, .restarted: 96
        }
    }
}

extension Effect {
    /// An upper bound of the bytes that an entry, a name, a session or a result takes in a snapshot beside its own
    /// content: its numbers, counts and a record's header.
    private static let elementByteCount = 160

    /// An upper bound of the bytes that the effect adds to a snapshot. Removals do not count.
    package var snapshotGrowth: Int {
        var byteCount = Self.elementByteCount
        switch body {
        case .sessionEnded, .expired, .restarted: return 0
        case .sessionOpened(let opening):
            byteCount += opening.role.rawValue.utf8.count + opening.name.utf8.count
            byteCount += opening.backendData.count
        case .refused(_, _, let failure):
            byteCount += failure.condition.key.text.utf8.count
            if let found = failure.found { byteCount += found.key.text.utf8.count + found.value.count }
        case .committed(_, _, let operations):
            for operation in operations {
                switch operation {
                case .put(let key, let value, _): byteCount += key.text.utf8.count + value.count + Self.elementByteCount
                case .post(let name, _): byteCount += name.text.utf8.count + Self.elementByteCount
                case .delete, .deletePrefix: break
                }
            }
        }
        return byteCount
    }
}

extension Effect {
    /// The effect for remote replicas: without the session data that only the order's own backend needs.
    package var forReplicas: Effect {
        guard case .sessionOpened(let opening) = body, !opening.backendData.isEmpty else { return self }
        return Effect(
            revision: revision, time: time,
            body: .sessionOpened(
                SessionOpening(process: opening.process, role: opening.role, name: opening.name, backendData: [])))
    }
}
