/// A persistent dictionary that several processes share, in one order of commits.
///
/// Implementations follow the rules S, W and L of the contract. ``capabilities`` names the optional features that they
/// provide; opening a group fails if a caller requires another one. Each implementation has its own way to open a
/// group. Every call may be made from any task, and none blocks the calling thread.
///
/// All calls throw ``SharedCoreError/Code/closed`` after ``close()`` and ``SharedCoreError/Code/sessionEnded`` when the
/// session has ended.
public protocol SharedStore: Sendable {
    /// The session of this handle.
    var session: Session { get }

    /// The promises of this group.
    var capabilities: Capabilities { get }

    /// The executor with the lowest delivery latency for a task that takes from watches and observations: the thread
    /// that receives the updates resumes the task as well. Nil if no executor is faster than the others.
    ///
    /// ```swift
    /// let calls = try await group.observe("calls")
    /// Task(executorPreference: group.deliveryExecutor) {
    ///     for try await call in calls { ring(call) }
    /// }
    /// ```
    ///
    /// It runs one job at a time on a thread with a stack of 512 KiB. With files, all groups of the process share it.
    /// Code that blocks or computes for long delays only the other tasks that prefer it. It also runs the child tasks
    /// of such a task, and actors without an executor of their own while the task calls them, but not a task that `Task
    /// {}` begins.
    var deliveryExecutor: (any TaskExecutor)? { get }

    /// The lease of a session that can end although its process lives; nil if the session ends only with its process or
    /// its handle.
    ///
    /// It is the state of the latest answer; reading it sends no request. A store that forwards calls to another
    /// returns that store's lease.
    ///
    /// Source: contract L5.
    var lease: SessionLease? { get }

    /// The size of the largest value that this handle keeps in its process's memory, in bytes; larger values are read
    /// from storage. Nil if all values are in memory: data in the group then takes as much memory in each of its
    /// processes.
    var residentValueByteCount: Int? { get }

    /// Returns the entry under a key; nil if there is none.
    func get(_ key: Key, consistency: ReadConsistency) async throws(SharedCoreError) -> Entry?

    /// Returns the entries that a prefix selects, all at one revision.
    func list(_ prefix: KeyPrefix, consistency: ReadConsistency) async throws(SharedCoreError) -> Snapshot

    /// Applies all of a transaction as one revision, or nothing.
    ///
    /// - Throws: ``SharedCoreError/Code/guardFailed`` with the failure, ``SharedCoreError/Code/limitExceeded``,
    ///   ``SharedCoreError/Code/storageFull``, ``SharedCoreError/Code/unavailable`` if the group cannot be reached,
    ///   ``SharedCoreError/Code/cancelled`` before anything was done, or ``SharedCoreError/Code/outcomeUnknown``, which
    ///   never means "failed". After every error but the last, nothing was done.
    func commit(_ transaction: Transaction) async throws(SharedCoreError) -> Commit

    /// Begins to deliver the changes of every key that any of the prefixes selects.
    ///
    /// Each commit that begins after this call has returned is delivered. Changes arrive in the order of commits, each
    /// once, a transaction whole.
    func watch(_ prefixes: [KeyPrefix], from start: WatchStart) async throws(SharedCoreError) -> Watch

    /// Waits until this handle's watches and observations can deliver every commit that any participant made before the
    /// call.
    func sync() async throws(SharedCoreError)

    /// Returns the participants of the group. If the backend can detect dead processes, it ends their sessions first.
    ///
    /// The entries that lived with an ended session appear in no later read of this handle, not even in a causal one.
    /// The exception is a read-only handle, which cannot record the end of a session.
    func sessions() async throws(SharedCoreError) -> [Session]

    /// Returns those of the given sessions that have not ended, sorted by id. Like ``sessions()``, first ends the
    /// sessions of dead processes, but checks only the given sessions. Unknown and ended sessions are left out.
    ///
    /// - Throws: As ``sessions()``.
    /// - Complexity: In a group of files, O(the number of given sessions); by default that of ``sessions()``.
    func sessions(among ids: Set<SessionID>) async throws(SharedCoreError) -> [Session]

    /// Returns the size of the store, notification names included; nil if the backend does not count it.
    func usage() async throws(SharedCoreError) -> StoreUsage?

    /// Ends the session and everything that lives with it, ends all watches and wakes all waiting tasks. Idempotent.
    func close() async
}

extension SharedStore {
    /// Nil: no executor delivers faster than the others.
    public var deliveryExecutor: (any TaskExecutor)? { nil }

    /// Nil: the session ends with its process.
    public var lease: SessionLease? { nil }

    /// Nil: all values are in memory.
    public var residentValueByteCount: Int? { nil }

    /// Filters the result of ``sessions()``.
    public func sessions(among ids: Set<SessionID>) async throws(SharedCoreError) -> [Session] {
        try await sessions().filter { ids.contains($0.id) }
    }

    /// Returns nil, because the default does not count.
    public func usage() async throws(SharedCoreError) -> StoreUsage? { nil }
}

extension SharedStore {
    /// Returns the entry under a key. Includes every commit that had returned before.
    public func get(_ key: Key) async throws(SharedCoreError) -> Entry? {
        try await get(key, consistency: .linearizable)
    }

    /// Returns the entries that a prefix selects. Includes every commit that had returned before.
    public func list(_ prefix: KeyPrefix = .all) async throws(SharedCoreError) -> Snapshot {
        try await list(prefix, consistency: .linearizable)
    }

    /// Sets the value of a key.
    @discardableResult
    public func put(
        _ key: Key, _ value: [UInt8], lifetime: Lifetime = .persistent
    ) async throws(SharedCoreError) -> Commit {
        try await commit(Transaction(operations: [.put(key, value, lifetime)]))
    }

    /// Sets the value of a key when a condition holds.
    @discardableResult
    public func put(
        _ key: Key, _ value: [UInt8], lifetime: Lifetime = .persistent, if condition: Transaction.Guard
    ) async throws(SharedCoreError) -> Commit {
        try await commit(Transaction(guards: [condition], operations: [.put(key, value, lifetime)]))
    }

    /// Removes a key. Does nothing if the key is absent.
    @discardableResult
    public func delete(_ key: Key) async throws(SharedCoreError) -> Commit {
        try await commit(Transaction(operations: [.delete(key)]))
    }

    /// Waits until all commits up to a revision are as durable as the group promises, including those of other
    /// participants.
    ///
    /// A commit waits for that before it returns; a read does not. Call this before acting outside of the group on
    /// something that was read, for example before telling a server that a message is stored.
    ///
    /// ```swift
    /// guard let entry = try await group.get("inbox/17") else { return }
    /// try await group.waitUntilDurable(through: entry.revision)
    /// server.acknowledge(17)
    /// ```
    ///
    /// - Throws: The errors of ``commit(_:)``: ``SharedCoreError/Code/outcomeUnknown`` and
    ///   ``SharedCoreError/Code/unavailable`` if the disk does not confirm it; ``SharedCoreError/Code/invalidArgument``
    ///   for a revision that does not exist yet.
    ///
    /// Source: contract S10.
    public func waitUntilDurable(through revision: Revision) async throws(SharedCoreError) {
        guard capabilities.durability == .disk else { return }
        // A commit returns only after all earlier commits are durable, so an empty one waits for them.
        let last = try await commit(Transaction()).revision
        guard last >= revision else {
            throw SharedCoreError(
                .invalidArgument, "Revision \(revision) does not exist: the group is at revision \(last).",
                at: "settled")
        }
    }

    /// Runs a body and closes the handle, also when the body throws.
    package func closing<Value>(after body: () async throws -> Value) async throws -> Value {
        do {
            let value = try await body()
            await close()
            return value
        } catch {
            await close()
            throw error
        }
    }

    /// Begins to deliver the selection of a prefix: a snapshot first, then every change.
    public func watch(
        _ prefix: KeyPrefix = .all, from start: WatchStart = .snapshot
    ) async throws(SharedCoreError) -> Watch {
        try await watch([prefix], from: start)
    }
}

/// An open handle of a group: its store and its notifier. The commits and the posts have one common order.
public typealias SharedGroup = CrossProcessNotifier & SharedStore

/// Which commits of other processes a read must include.
///
/// Source: contract S4.
public enum ReadConsistency: Hashable, Sendable {
    /// Includes every commit of any participant that had returned before the read began.
    case linearizable
    /// Answers at once from the state that this client knows, which is never older than anything that it has already
    /// seen.
    case causal
}

/// The amount of data in a group's store.
public struct StoreUsage: Hashable, Sendable {
    /// The number of entries.
    public let entryCount: Int
    /// The bytes of all keys and values, which ``Limits/storeByteCount`` bounds.
    public let byteCount: Int
    /// The number of notification names.
    public let nameCount: Int
    /// The bytes of all notification names.
    public let nameByteCount: Int

    /// Makes a usage, for a backend that counts the content of its store.
    public init(entryCount: Int, byteCount: Int, nameCount: Int, nameByteCount: Int) {
        self.entryCount = entryCount
        self.byteCount = byteCount
        self.nameCount = nameCount
        self.nameByteCount = nameByteCount
    }
}

/// Runs a body with an open group, and closes the group on every path: when the body returns, when it throws, and when the task
/// is cancelled.
///
/// ```swift
/// let group = try await FileGroup.open(directory: directory, as: SessionDescription(role: .tool))
/// let members = try await withGroup(group) { try await $0.list("members") }  // closed on every path
/// ```
///
/// - Parameters:
///   - group: The handle, such as what opening gives. It is closed even if other code still has it.
///   - body: The work with the handle.
/// - Returns: What `body` returned.
/// - Throws: What `body` throws.
public func withGroup<Group: SharedStore, Value>(
    _ group: Group, _ body: (Group) async throws -> Value
) async throws -> Value {
    try await group.closing { try await body(group) }
}
