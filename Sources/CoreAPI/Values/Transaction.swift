/// Conditions and operations that take effect together or not at all, as one revision.
///
/// The guards are judged where the order is agreed, so nothing comes between them and the operations. Operations apply
/// in their order; a later one sees what an earlier one did.
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
    /// What must hold.
    public var guards: [Guard]
    /// What is done when it holds.
    public var operations: [Operation]
    /// The caller's number for this request, which makes a retry safe.
    ///
    /// A store that has applied a number of this session gives the first result again instead of applying it twice,
    /// before it looks at the guards. Numbers of one session rise. Leave it nil where a retry is not intended.
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
