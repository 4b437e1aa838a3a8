package import CoreAPI
internal import CoreAPITesting

/// A store that lets a test act between a caller's read and its commit, or change the commit.
package struct InterposedStore: ForwardingStore {
    package typealias BeforeCommit = @Sendable (Transaction) async throws(SharedCoreError) -> Transaction

    package typealias BeforeList = @Sendable (KeyPrefix) async -> Void

    package typealias AfterList = @Sendable (KeyPrefix, Snapshot) async -> Void

    package typealias AfterSessions = @Sendable () async -> Void

    package let inner: any SharedStore
    private let beforeCommit: BeforeCommit
    private let beforeList: BeforeList
    private let afterList: AfterList
    private let afterSessions: AfterSessions

    /// - Parameters:
    ///   - beforeCommit: Returns the transaction to commit in place of its argument.
    ///   - beforeList: Called before the store is listed.
    ///   - afterList: Called with a listing before the caller receives it.
    ///   - afterSessions: Called before the caller receives the sessions.
    package init(
        _ inner: any SharedStore,
        beforeCommit: @escaping BeforeCommit = { transaction throws(SharedCoreError) in transaction },
        beforeList: @escaping BeforeList = { _ in },
        afterList: @escaping AfterList = { _, _ in },
        afterSessions: @escaping AfterSessions = {}
    ) {
        self.inner = inner
        self.beforeCommit = beforeCommit
        self.beforeList = beforeList
        self.afterList = afterList
        self.afterSessions = afterSessions
    }

    /// A store that adds a condition to every transaction, as the store of a core does.
    package init(_ inner: any SharedStore, requiring condition: Transaction.Guard) {
        self.init(inner) { transaction throws(SharedCoreError) in
            var guarded = transaction
            guarded.guards.insert(condition, at: 0)
            return guarded
        }
    }

    /// A store that runs an action before its first commit, and only then.
    package init(_ inner: any SharedStore, once act: @escaping @Sendable () async throws(SharedCoreError) -> Void) {
        let done = Box(false)
        self.init(inner) { transaction throws(SharedCoreError) in
            let isFirst = done.update { done in
                defer { done = true }
                return !done
            }
            if isFirst { try await act() }
            return transaction
        }
    }

    package func list(_ prefix: KeyPrefix, consistency: ReadConsistency) async throws(SharedCoreError) -> Snapshot {
        await beforeList(prefix)
        let snapshot = try await inner.list(prefix, consistency: consistency)
        await afterList(prefix, snapshot)
        return snapshot
    }

    package func commit(_ transaction: Transaction) async throws(SharedCoreError) -> Commit {
        try await inner.commit(try await beforeCommit(transaction))
    }

    package func sessions() async throws(SharedCoreError) -> [Session] {
        let sessions = try await inner.sessions()
        await afterSessions()
        return sessions
    }
}
