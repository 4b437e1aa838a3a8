/// Conditions and operations that take effect together or not at all, as one revision.
///
/// The guards are evaluated at the transaction's place in the order of commits, so no other commit comes between them
/// and the operations. Operations apply in their order; a later one sees the effect of an earlier one.
///
/// ```swift
/// var transaction = Transaction()
/// transaction.require(.absent("leader"))
/// transaction.put("leader", Array("me".utf8), lifetime: .session)
/// let commit = try await store.commit(transaction)
/// ```
///
/// Source: contract S5.
public struct Transaction: Hashable, Sendable {
    /// The conditions that must hold.
    public var guards: [Guard]
    /// The operations that take effect if the guards hold.
    public var operations: [Operation]
    /// The caller's number for this request, which makes a retry safe.
    ///
    /// If a store has already applied this number of the session, it returns the first result instead of applying the
    /// transaction again, without evaluating the guards. Numbers of one session rise. Leave it nil if a retry is not
    /// intended.
    ///
    /// Source: contract S12.
    public var requestNumber: UInt64?

    public init(guards: [Guard] = [], operations: [Operation] = [], requestNumber: UInt64? = nil) {
        self.guards = guards
        self.operations = operations
        self.requestNumber = requestNumber
    }

    /// Adds a condition.
    public mutating func require(_ condition: Guard) {
        guards.append(condition)
    }

    /// Adds an operation that sets the value of a key.
    public mutating func put(_ key: Key, _ value: [UInt8], lifetime: Lifetime = .persistent) {
        operations.append(.put(key, value, lifetime))
    }

    /// Adds an operation that removes a key; an absent one is no error.
    public mutating func delete(_ key: Key) {
        operations.append(.delete(key))
    }

    /// Adds an operation that removes every key that `prefix` selects.
    public mutating func deleteAll(under prefix: KeyPrefix) {
        operations.append(.deletePrefix(prefix))
    }

    /// Adds a notification. A nil `state` leaves the name's state word as it is.
    public mutating func post(_ name: NotificationName, state: UInt64? = nil) {
        operations.append(.post(name, state: state))
    }
}

extension Transaction {
    /// A condition on the state of the store at the moment of the commit.
    public enum Guard: Hashable, Sendable {
        /// No entry has the key.
        case absent(Key)
        /// An entry has the key.
        case exists(Key)
        /// The entry was last written by this revision.
        case revision(Key, Revision)
        /// The entry was created at this revision and may have been written since: the epoch has not ended.
        case epoch(Key, Revision)

        /// The key that the condition is about.
        public var key: Key {
            switch self {
            case .absent(let key), .exists(let key), .revision(let key, _), .epoch(let key, _): key
            }
        }
    }
}

extension Transaction {
    /// One step of a transaction.
    public enum Operation: Hashable, Sendable {
        /// Sets the value and the lifetime of a key.
        case put(Key, [UInt8], Lifetime)
        /// Removes a key.
        case delete(Key)
        /// Removes every key that the prefix selects.
        case deletePrefix(KeyPrefix)
        /// Counts one more post of a name. If `state` is not nil, also sets the state word.
        case post(NotificationName, state: UInt64?)
    }
}

/// The result of a transaction that took effect.
public struct Commit: Hashable, Sendable {
    /// The revision of the commit. If the transaction changed nothing, the revision of the store at that moment.
    public let revision: Revision
    /// True if an entry changed or a name was posted. False if there was nothing to do: no operation, or deletions of
    /// absent keys only.
    public let changed: Bool

    public init(revision: Revision, changed: Bool) {
        self.revision = revision
        self.changed = changed
    }
}

/// The condition of a transaction that did not hold, and the state that was found instead.
public struct GuardFailure: Hashable, Sendable {
    /// The position of the first guard that failed.
    public let index: Int
    /// The guard that failed.
    public let condition: Transaction.Guard
    /// The entry under the guard's key at that moment; nil if there was none.
    public let found: Entry?

    public init(index: Int, condition: Transaction.Guard, found: Entry?) {
        self.index = index
        self.condition = condition
        self.found = found
    }
}
