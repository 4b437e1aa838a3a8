public import CoreAPI
public import Platform

/// A log to which the participants of a group append. An implementation of it is enough for a complete backend.
///
/// Every participant opens its own handle of the log and passes it to ``ReplicatedGroup/open(log:as:options:)``. The
/// group writes and reads the records, and provides transactions, watches, notifications, sessions and lifetimes. A
/// record is any bytes: the log does not interpret them.
///
/// The **position** of a record is the number of records that were appended before it. The first record has position 0.
/// A position is never used again, not even after a compaction.
///
/// ```swift
/// final class TableLog: SharedLog {
///     func append(_ record: [UInt8], at position: UInt64) async throws(SharedCoreError) -> Bool {
///         try await database.insertIfAbsent(position, record)    // only where `position` is the end
///     }
///     func read(from position: UInt64, limit: Int) async throws(SharedCoreError) -> LogSlice { … }
///     func wait(after position: UInt64) async throws(SharedCoreError) { … }
///     func compact(_ snapshot: [[UInt8]], before position: UInt64) async throws(SharedCoreError) { … }
///     func close() async { … }
/// }
/// ```
///
/// Calls come from several tasks at once, and none may block the thread that makes it. Each ends within a bounded time,
/// ``wait(after:)`` excepted: a log over a network has a deadline for its server. The group passes the log's errors on
/// to the application, so they have the codes of the contract. Three errors end the handle, whichever call throws them:
/// `corrupt`, `incompatible`, and `sessionEnded`, with which a log reports that the participant's session has ended,
/// for example because its lease ended. After any other error the group tries again after 50 ms, then after twice as
/// long each time, up to 5 s.
///
/// The group does not trust its log. Each record refers to the one before it. If records are left out, repeated, lost
/// or replaced, the handles that detect this end with `corrupt`.
public protocol SharedLog: Sendable {
    /// Appends a record at a position, if the log ends there.
    ///
    /// When this returns, the record is as durable as ``LogGroupOptions/durability`` promises, and every later
    /// ``read(from:limit:)`` in any process returns it.
    ///
    /// - Parameters:
    ///   - record: Its bytes. The largest is some KiB longer than the largest transaction.
    ///   - position: The position for the record.
    /// - Returns: False if nothing was appended because of another record at the position or a concurrent append. If a
    ///   read shows no record there, the group pauses before it appends again. After ten pauses, 21 s in all, the call
    ///   of the application fails with `unavailable`.
    /// - Throws: `outcomeUnknown`, `unavailable` and `system` if it is not known whether the record was appended. The
    ///   group then reads the position. If there is no record, the group appends the same one once more. If that fails
    ///   as well, the application gets `outcomeUnknown`. With any other code, such as `storageFull`, nothing was
    ///   appended.
    func append(_ record: [UInt8], at position: UInt64) async throws(SharedCoreError) -> Bool

    /// Reads the records from a position on, including every append that had returned before the call.
    ///
    /// - Parameters:
    ///   - position: The first position to read; not beyond the end.
    ///   - limit: The maximum number of records.
    /// - Returns: The records in their order: fewer than `limit` only at the end of the log. If a snapshot has replaced
    ///   the record at `position`, the snapshot and the records after it.
    func read(from position: UInt64, limit: Int) async throws(SharedCoreError) -> LogSlice

    /// Waits until there is a record at a position, or until a session may have ended (see ``ended(among:)``).
    ///
    /// It may return without cause: the group then reads and calls again, with a pause from the second time on. A log
    /// without notifications must poll, and declare it in ``LogGroupOptions/wakeUp``.
    ///
    /// - Throws: Any code when the task is cancelled, promptly.
    func wait(after position: UInt64) async throws(SharedCoreError)

    /// Returns records from a position on that a server has sent to this handle without a read. The default returns
    /// none.
    ///
    /// If a server sends each record to all participants, this saves a ``read(from:limit:)`` of each of them for each
    /// record. The call must return at once, and only records that a read would return. The group still reads when it
    /// must know that no record is missing.
    func received(from position: UInt64) async -> [[UInt8]]

    /// Replaces all records before a position, and the snapshot before them, by a snapshot, in one atomic step.
    ///
    /// Does nothing if there is a snapshot at that position or a later one: two participants may compact at once.
    ///
    /// - Parameters:
    ///   - snapshot: The snapshot, in parts that ``LogSlice/snapshot`` must return unchanged. A part has about 64 KiB,
    ///     or one value.
    ///   - position: The position of the snapshot: that of the first record that it does not include.
    func compact(_ snapshot: [[UInt8]], before position: UInt64) async throws(SharedCoreError)

    /// Begins to signal to the other participants that this one is alive, for example by a lease. Called once, with its
    /// own session, after the record of the session was appended.
    ///
    /// - Throws: An error to refuse the participant: opening then ends the session and throws the error.
    func hold(_ session: SessionID) async throws(SharedCoreError)

    /// Returns those of the given sessions that have ended although no record says so; nil, the default, if the log
    /// cannot tell. The group itself checks the processes that it can see, and notices their deaths at once. So a log
    /// reports sessions of other processes, and those with an expired lease.
    ///
    /// The group calls it when it opens, when the application asks for the sessions, and after each ``wait(after:)``.
    /// After a wait, and without a ``lease``, it passes only sessions of processes that it cannot see.
    ///
    /// The default is for logs of one machine. Over a network a process cannot be seen, and a session ends with its
    /// lease. A session that has not called ``hold(_:)`` may be about to; it has ended when the duration of a lease has
    /// passed since its ``Session/openedAt``.
    func ended(among sessions: [Session]) async throws(SharedCoreError) -> [SessionID]?

    /// The lease of the session of ``hold(_:)``, if ``ended(among:)`` may report the session as ended although its
    /// process lives; nil, the default, if not. It may be called at any time, and must return at once.
    ///
    /// Source: contract L5.
    var lease: SessionLease? { get }

    /// Frees the resources of the handle, the lease of ``hold(_:)`` included. Called once, as the last call. Calls that
    /// are on their way may end with any error.
    func close() async
}

extension SharedLog {
    /// Returns no records: the group reads the log.
    public func received(from position: UInt64) async -> [[UInt8]] { [] }

    /// Does nothing: the group checks the process.
    public func hold(_ session: SessionID) async throws(SharedCoreError) {}

    /// Nil: the session ends with its process.
    public var lease: SessionLease? { nil }

    /// Returns nil: the group checks the processes.
    public func ended(among sessions: [Session]) async throws(SharedCoreError) -> [SessionID]? { nil }
}

/// The part of a log from a position on.
public struct LogSlice: Hashable, Sendable {
    /// The position of the log's snapshot, whether or not the slice contains it; 0 while there is none.
    public var start: UInt64
    /// The parts of the snapshot, if the requested position is before ``start``; nil otherwise.
    public var snapshot: [[UInt8]]?
    /// The records from the requested position on or, with a snapshot, from ``start`` on.
    public var records: [[UInt8]]

    public init(start: UInt64, snapshot: [[UInt8]]? = nil, records: [[UInt8]]) {
        self.start = start
        self.snapshot = snapshot
        self.records = records
    }
}

/// The properties of a log, and the way in which a group is opened over it.
public struct LogGroupOptions: Sendable {
    /// The backend's name, for people.
    public var backend: String
    /// The features that the log adds to those of every group over a log (`linearizableReads`, `resumableWatches`,
    /// `previousValues`, `deduplicatedRequests`):
    /// - `multipleProcesses`, if processes share it;
    /// - `promptDeathNotice`, if it uses the default of ``SharedLog/ended(among:)``, or reports a death at once;
    /// - `stoppedWritersTolerated`, if a process that is stopped within an append delays no other;
    /// - `endingsOnFullDisk`, if it keeps space for them.
    public var features: Set<Capability>
    /// The failure that a record survives once ``SharedLog/append(_:at:)`` has returned.
    public var durability: Durability
    /// The way in which ``SharedLog/wait(after:)`` learns of a record.
    public var wakeUp: WakeUpMethod
    /// The size limits of requests. The log must accept records that are some KiB larger than a transaction.
    public var limits: Limits
    /// The bytes of memory for changes that are kept for watches that resume or fall behind.
    public var historyByteCount: Int
    /// The clock by which entries expire. Participants with another boot id than those that have the group open are
    /// refused, so those of several machines need a clock of the group's own.
    public var clock: any TimeSource
    /// The features that the caller relies on.
    public var requirements: Requirements

    public init(
        backend: String, features: Set<Capability>, durability: Durability, wakeUp: WakeUpMethod = .direct,
        limits: Limits = Limits(), historyByteCount: Int = 256 << 10, clock: any TimeSource = SystemClock(),
        requirements: Requirements = .none
    ) {
        self.backend = backend
        self.features = features
        self.durability = durability
        self.wakeUp = wakeUp
        self.limits = limits
        self.historyByteCount = historyByteCount
        self.clock = clock
        self.requirements = requirements
    }

    /// The promises of a group with these options.
    var capabilities: Capabilities {
        Capabilities(
            backend: backend,
            features: features.union([
                .linearizableReads, .resumableWatches, .previousValues, .deduplicatedRequests,
            ]),
            durability: durability, limits: limits, wakeUp: wakeUp)
    }
}
