/// A persistent dictionary that several processes share, in one order of commits.
///
/// Implementations keep the rules S, W and L of the contract, or say in ``capabilities`` which part they do not and
/// refuse it when a caller requires it at open. How a group is opened is the implementation's own. Every call may be
/// made from any task, and none blocks the thread that makes it.
///
/// All calls throw ``SharedCoreError/Code/closed`` after ``close()`` and ``SharedCoreError/Code/sessionEnded`` when the
/// session is over for the group.
public protocol SharedStore: Sendable {
    /// This participation.
    var session: Session { get }

    /// What this group promises.
    var capabilities: Capabilities { get }

    /// Where a task best runs that takes from watches and observations, when it is to hear of news as soon as possible: what
    /// learns of the news resumes it as well. Nil where that is no faster than anywhere else.
    ///
    /// ```swift
    /// let calls = try await group.observe("calls")
    /// Task(executorPreference: group.deliveryExecutor) {
    ///     for try await call in calls { ring(call) }
    /// }
    /// ```
    ///
    /// It runs one job at a time, over files of all groups of the process, and the stack has 512 KiB: code that blocks or
    /// computes for long holds up the others that prefer it, and nobody else. Child tasks of such a task run there as well, and
    /// actors without an executor of their own while it calls them; what `Task {}` begins does not.
    var deliveryExecutor: (any TaskExecutor)? { get }

    /// The entry under a key; nil when there is none.
    func get(_ key: Key, consistency: ReadConsistency) async throws(SharedCoreError) -> Entry?

    /// The entries that a prefix selects, as they stand together at one revision.
    func list(_ prefix: KeyPrefix, consistency: ReadConsistency) async throws(SharedCoreError) -> Snapshot

    /// Applies a transaction as one revision, or nothing of it.
    ///
    /// - Throws: ``SharedCoreError/Code/guardFailed`` with the failure, ``SharedCoreError/Code/limitExceeded``,
    ///   ``SharedCoreError/Code/storageFull``, ``SharedCoreError/Code/cancelled`` before anything was done, or
    ///   ``SharedCoreError/Code/outcomeUnknown``, which never means "failed".
    func commit(_ transaction: Transaction) async throws(SharedCoreError) -> Commit

    /// Begins to deliver the changes of every key that any of the prefixes selects.
    ///
    /// Returns armed: a commit that begins after this call has returned is delivered. Changes arrive in the order of
    /// commits, each once, a transaction whole.
    func watch(_ prefixes: [KeyPrefix], from start: WatchStart) async throws(SharedCoreError) -> Watch

    /// Returns when everything that was committed anywhere before the call can be taken from this handle's watches and
    /// observations without waiting.
    func sync() async throws(SharedCoreError)

    /// The participants of the group. Makes sure first that none of them is dead, where the backend can tell.
    ///
    /// What lived with a session that has ended stands in no read of this handle that follows, not even in a causal one. Only
    /// a handle that may not write leaves it standing for whoever can record the end.
    func sessions() async throws(SharedCoreError) -> [Session]

    /// How much stands in the store, notification names included; nil where the backend does not count it.
    func usage() async throws(SharedCoreError) -> StoreUsage?

    /// Ends the session and everything that lives with it, ends all watches and wakes whoever waits. Idempotent.
    func close() async
}

extension SharedStore {
    /// Nil: nowhere.
    public var deliveryExecutor: (any TaskExecutor)? { nil }

    /// Nil: not counted.
    public func usage() async throws(SharedCoreError) -> StoreUsage? { nil }
}
