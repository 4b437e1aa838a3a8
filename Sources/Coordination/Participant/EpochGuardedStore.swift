package import CoreAPI
internal import Synchronization

/// A group's store as a core sees it: every transaction carries the epoch under which the core runs as its first guard,
/// so nothing that a superseded core writes takes effect.
///
/// Source: contract C4.
struct EpochGuardedStore: ForwardingStore {
    let inner: any SharedStore
    let epoch: Revision
    /// Called when a write shows that the epoch has ended.
    let fenced: @Sendable () -> Void
    /// The calls that are cancelled when the connection to the group is cut.
    var calls = CutCalls()
    /// Called with the store's answers to writes of content.
    var report: @Sendable (CoreWrite) -> Void = { _ in }

    func get(_ key: Key, consistency: ReadConsistency) async throws(SharedCoreError) -> Entry? {
        guard consistency == .linearizable else { return try await inner.get(key, consistency: consistency) }
        return try await calls.run(through: inner) { store throws(SharedCoreError) in
            try await store.get(key, consistency: consistency)
        }
    }

    func list(_ prefix: KeyPrefix, consistency: ReadConsistency) async throws(SharedCoreError) -> Snapshot {
        guard consistency == .linearizable else { return try await inner.list(prefix, consistency: consistency) }
        return try await calls.run(through: inner) { store throws(SharedCoreError) in
            try await store.list(prefix, consistency: consistency)
        }
    }

    func watch(_ prefixes: [KeyPrefix], from start: WatchStart) async throws(SharedCoreError) -> Watch {
        try await calls.run(through: inner) { store throws(SharedCoreError) in
            try await store.watch(prefixes, from: start)
        }
    }

    func sync() async throws(SharedCoreError) {
        try await calls.run(through: inner) { store throws(SharedCoreError) in try await store.sync() }
    }

    func sessions() async throws(SharedCoreError) -> [Session] {
        try await calls.run(through: inner) { store throws(SharedCoreError) in try await store.sessions() }
    }

    func sessions(among ids: Set<SessionID>) async throws(SharedCoreError) -> [Session] {
        try await calls.run(through: inner) { store throws(SharedCoreError) in try await store.sessions(among: ids) }
    }

    func commit(_ transaction: Transaction) async throws(SharedCoreError) -> Commit {
        let condition = Transaction.Guard.epoch(OwnershipKey.owner, epoch)
        let hasContent = transaction.hasContent
        if hasContent { report(.begun) }
        defer { if hasContent { report(.over) } }
        do throws(SharedCoreError) {
            let guarded = transaction.guarded(by: epoch)
            let commit = try await calls.run(through: inner) { store throws(SharedCoreError) in
                try await store.commit(guarded)
            }
            if hasContent { report(.taken) }
            return commit
        } catch {
            if error.guardFailure?.condition == condition || error.code == .sessionEnded { fenced() }
            if hasContent, StoreRefusal.isRefusal(error) { report(.refused(error)) }
            throw error
        }
    }

    /// Does nothing: the handle belongs to the participant's application, not to its core.
    func close() async {}
}

/// The calls of a core that need the group. They are cancelled when the session may have ended because the group does
/// not answer: a core that stops must not wait for a group that it cannot reach.
///
/// Source: contract C19.
final class CutCalls: Sendable {
    private struct Content {
        var cancellations: [UInt64: @Sendable () -> Void] = [:]
        var lastNumber: UInt64 = 0
    }

    private let content = Mutex(Content())
    private let isCutOff: @Sendable () -> Bool

    init(isCutOff: @escaping @Sendable () -> Bool = { false }) {
        self.isCutOff = isCutOff
    }

    static let refusal = SharedCoreError(
        .unavailable, "The group has not answered for so long that the core's session may be over: the core stops.",
        at: "core")

    /// Runs a call, unless the session is in doubt: the group has not answered for so long that the session may have
    /// ended.
    func run<Answer: Sendable>(
        through store: any SharedStore,
        _ body: @escaping @Sendable (any SharedStore) async throws(SharedCoreError) -> Answer
    ) async throws(SharedCoreError) -> Answer {
        // A session without a lease ends only with its process or its handle, so the call need not be cancelled.
        guard store.lease != nil else { return try await body(store) }
        if isCutOff() { throw Self.refusal }
        let task = Task { () -> Result<Answer, SharedCoreError> in
            do throws(SharedCoreError) { return .success(try await body(store)) } catch { return .failure(error) }
        }
        let number = content.withLock { content in
            content.lastNumber += 1
            content.cancellations[content.lastNumber] = { task.cancel() }
            return content.lastNumber
        }
        defer { content.withLock { _ = $0.cancellations.removeValue(forKey: number) } }
        // The calls may have been cut off before this one was registered.
        if isCutOff() { task.cancel() }
        let result = await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
        do throws(SharedCoreError) {
            return try result.get()
        } catch {
            throw error.code == .cancelled && !Task.isCancelled ? Self.refusal : error
        }
    }

    /// Cancels the pending calls.
    func end() {
        let cancellations = content.withLock { Array($0.cancellations.values) }
        for cancel in cancellations { cancel() }
    }
}

extension Transaction {
    /// True if the transaction puts content for which the store may have no space. Timeline entries, calls and batons
    /// use reserved space. Entries that live with a session are not counted, because they are rarely refused.
    fileprivate var hasContent: Bool {
        operations.contains { operation in
            guard case .put(let key, _, let lifetime) = operation else { return false }
            return lifetime != .session && !Timeline.prefix.contains(key) && !CallKey.all.contains(key)
                && key != OwnershipKey.baton
        }
    }

    /// Returns the same transaction for the core of an epoch: it takes effect only while that epoch owns.
    ///
    /// Source: contract C4.
    package func guarded(by epoch: Revision) -> Transaction {
        let condition = Guard.epoch(OwnershipKey.owner, epoch)
        guard guards.first != condition else { return self }
        var guarded = self
        // The first failed guard is reported, so a superseded core learns that it is superseded, not that another guard
        // failed.
        guarded.guards.insert(condition, at: 0)
        return guarded
    }
}
