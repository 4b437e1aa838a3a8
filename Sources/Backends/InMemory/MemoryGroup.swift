public import CoreAPI
internal import Replica
internal import StoreEngine
internal import Synchronization

/// A participant of a group in memory. See ``MemorySpace``.
///
/// Releasing the last reference ends the session, as closing does. For tests, ``simulateKill()`` ends the session as
/// the death of its process would, and ``simulateStop()`` stops the handle as SIGSTOP would.
public final class MemoryGroup: SharedGroup {
    public let session: Session
    public let capabilities: Capabilities

    private let store: MemoryStore
    private let handle: GroupHandle
    private let gate = FreezeGate()

    init(store: MemoryStore, session: Session, capabilities: Capabilities) {
        self.store = store
        self.session = session
        self.handle = GroupHandle(of: session.id, at: "memory")
        self.capabilities = capabilities
    }

    deinit {
        store.end(session.id)
    }

    public func get(_ key: Key, consistency: ReadConsistency) async throws(SharedCoreError) -> Entry? {
        try await read { state throws(SharedCoreError) in try state.entry(key)?.entry(for: key) }
    }

    public func list(_ prefix: KeyPrefix, consistency: ReadConsistency) async throws(SharedCoreError) -> Snapshot {
        try await read { state throws(SharedCoreError) in
            try Snapshot(revision: state.revision, stored: state.selection([prefix]))
        }
    }

    public func commit(_ transaction: Transaction) async throws(SharedCoreError) -> Commit {
        try await enter()
        guard !Task.isCancelled else { throw .cancelled("commit") }
        do throws(SharedCoreError) {
            return try store.commit(transaction, of: session.id)
        } catch {
            throw handle.applicationError(error)
        }
    }

    public func watch(_ prefixes: [KeyPrefix], from start: WatchStart) async throws(SharedCoreError) -> Watch {
        try await sync()
        let inner = try handle.requireOpen(
            for: store.replica.watch(
                prefixes, from: start, for: session.id,
                catchUp: { [store] () throws(SharedCoreError) in store.expire() }, onCancel: {}))
        return Watch(
            next: { [gate] () async throws(SharedCoreError) -> WatchEvent? in
                await gate.pass()
                let event = try await inner.next()
                await gate.pass()
                return event
            },
            cancel: { inner.cancel() })
    }

    public func sync() async throws(SharedCoreError) {
        try await read { _ in }
    }

    public func sessions() async throws(SharedCoreError) -> [Session] {
        try await read { state in state.openSessions }
    }

    public func close() async {
        await gate.pass()
        guard handle.close() else { return }
        store.replica.finish(session.id, with: nil)
        store.end(session.id)
    }

    public func observe(_ name: NotificationName) async throws(SharedCoreError) -> Observation {
        try await sync()
        let inner = try handle.requireOpen(
            for: store.replica.observe(name, for: session.id, catchUp: {}, onCancel: {}))
        return Observation(
            next: { [gate] () async throws(SharedCoreError) -> NotificationDelivery? in
                await gate.pass()
                let delivery = try await inner.next()
                await gate.pass()
                return delivery
            },
            cancel: { inner.cancel() })
    }

    public func state(of name: NotificationName) async throws(SharedCoreError) -> NotificationState {
        try await read { state in state.topic(name) }
    }

    public func usage() async throws(SharedCoreError) -> StoreUsage? {
        try await read { state in state.usage }
    }

    // MARK: - Simulated faults

    /// Ends the session as the death of its process would: no further call of this handle takes effect.
    public func simulateKill() {
        store.end(session.id)
        gate.open()
    }

    /// Stops this handle as SIGSTOP stops a process: calls and watches wait until ``simulateContinue()``.
    public func simulateStop() {
        gate.close()
    }

    /// Continues this handle after ``simulateStop()``.
    public func simulateContinue() {
        gate.open()
    }

    // MARK: - Private

    private func enter() async throws(SharedCoreError) {
        await gate.pass()
        try handle.requireOpen()
    }

    private func read<Result: Sendable>(
        _ body: (inout StoreState) throws(SharedCoreError) -> sending Result
    ) async throws(SharedCoreError) -> Result {
        try await enter()
        return try store.read { state throws(SharedCoreError) in
            try self.handle.requireSession(in: state)
            return try body(&state)
        }
    }
}

/// The gate at which a simulated process waits while it is stopped.
final class FreezeGate: Sendable {
    /// Nil while the gate is open.
    private let shut = Mutex<Promise<Void>?>(nil)

    func close() {
        shut.withLock { $0 = $0 ?? Promise() }
    }

    func open() {
        shut.withLock { $0.take() }?.open()
    }

    /// Returns at once, or when the gate opens. A stopped process does not notice a cancellation either.
    func pass() async {
        await shut.withLock { $0 }?.pass()
    }
}
