package import CoreAPI
internal import CoreAPITesting
internal import Platform

/// A store that a test makes as bad as one behind a network may be: it does not answer, or the answers to commits are lost.
package struct UncertainStore: ForwardingStore {
    /// Returns true if the answer to a commit that took effect is to be lost.
    package typealias Loss = @Sendable (Transaction) -> Bool

    package let inner: any SharedStore
    private let state = Box((isSilent: false, loss: nil as Loss?, lookCount: 0, waiterCount: 0))
    private let session: (lease: Box<SessionLease>, clock: any TimeSource)?

    /// - Parameters:
    ///   - lease: How long its session stands without an answer; nil where it ends with its process.
    ///   - clock: The clock by which it does.
    package init(_ inner: any SharedStore, lease: Duration? = nil, by clock: any TimeSource = SystemClock()) {
        self.inner = inner
        session = lease.map { (Box(SessionLease(duration: $0, confirmedAt: clock.now())), clock) }
    }

    package var lease: SessionLease? { session?.lease.value }

    /// Confirms the lease, as a backend does by itself while its store answers.
    package func keepAlive() {
        guard !isSilent, let session else { return }
        session.lease.update { $0.confirmedAt = session.clock.now() }
    }

    /// Begins or ends a silence. While the store is silent, a call waits until the silence ends or the call's task is
    /// cancelled.
    package func setSilent(_ isSilent: Bool) {
        state.update { $0.isSilent = isSilent }
    }

    package var isSilent: Bool { state.value.isSilent }

    package func loseAnswers(_ loss: Loss?) {
        state.update { $0.loss = loss }
    }

    /// The number of calls to list.
    package var lookCount: Int { state.value.lookCount }

    /// The number of calls that wait for an answer.
    package var waiterCount: Int { state.value.waiterCount }

    private func pass() async throws(SharedCoreError) {
        let began = session?.clock.now()
        defer {
            if let session, let began, !isSilent {
                session.lease.update { $0.confirmedAt = max($0.confirmedAt, began) }
            }
        }
        state.update { $0.waiterCount += 1 }
        defer { state.update { $0.waiterCount -= 1 } }
        while state.value.isSilent {
            do {
                try await Task.sleep(for: .milliseconds(2))
            } catch {
                throw SharedCoreError(.cancelled, "The task was cancelled.", at: "test")
            }
        }
    }

    package func get(_ key: Key, consistency: ReadConsistency) async throws(SharedCoreError) -> Entry? {
        if consistency == .linearizable { try await pass() }
        return try await inner.get(key, consistency: consistency)
    }

    package func list(_ prefix: KeyPrefix, consistency: ReadConsistency) async throws(SharedCoreError) -> Snapshot {
        try await pass()
        defer { state.update { $0.lookCount += 1 } }
        return try await inner.list(prefix, consistency: consistency)
    }

    package func commit(_ transaction: Transaction) async throws(SharedCoreError) -> Commit {
        try await pass()
        let commit = try await inner.commit(transaction)
        if state.value.loss?(transaction) == true {
            throw SharedCoreError(.outcomeUnknown, "The answer is lost.", at: "test")
        }
        return commit
    }

    package func watch(_ prefixes: [KeyPrefix], from start: WatchStart) async throws(SharedCoreError) -> Watch {
        try await pass()
        return try await inner.watch(prefixes, from: start)
    }

    package func sync() async throws(SharedCoreError) {
        try await pass()
        try await inner.sync()
    }

    package func sessions() async throws(SharedCoreError) -> [Session] {
        try await pass()
        return try await inner.sessions()
    }
}
