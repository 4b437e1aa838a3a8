internal import CoreAPI
internal import Platform
internal import Replica
internal import StoreEngine
internal import Synchronization

/// This process's part of a group: one replica, one writer, one set of wake channels, for any number of participants.
///
/// - Reading: checks whether the replica is at the published tail, and otherwise applies the missing records on the
///   spot.
/// - Writing: `LocalGroup+Writing.swift`. Try the lock; when it is taken, the request waits in a queue of its own.
/// - Rolling and compaction: a new journal takes the place of one whose writer is frozen, or which became long.
/// - Listening: the wake channels that wake this process, the processes whose end it waits for, and the time at which
///   the next entry expires.
final class LocalGroup: Sendable {
    let directory: GroupDirectory
    let clock: any TimeSource
    let replica: Replica
    let follower: JournalFollower
    let sessionLocks: SessionLocks
    let bells: BellRinger
    let wakeUpSource: WakeUpSource
    let signals: SignalListener

    /// Excludes the threads of this process from each other, for which the lock of the journal is one and the same.
    let writer = Mutex(())
    let queue = WriteQueue()
    let durability = DurabilityQueue()
    let compaction = CompactionState()
    let listening = Mutex(Listening())
    let expirySchedule = Mutex(ExpirySchedule())
    /// Held while the state is read and handed over, so that a later read is never replaced by an earlier one.
    let newsOrder = Mutex(())
    let place = PlaceCheck()
    /// Whether this process is the group's hub and serves. Then no other process may rely on the channel of everything,
    /// which is not signalled for what this process records.
    let isHub = Atomic(false)

    private init(
        directory: GroupDirectory, clock: any TimeSource, state: StoreState, follower: JournalFollower,
        sessionLocks: SessionLocks, wakeUpSource: WakeUpSource
    ) {
        self.directory = directory
        self.clock = clock
        self.replica = Replica(state)
        self.follower = follower
        self.sessionLocks = sessionLocks
        self.bells = BellRinger(in: directory)
        self.wakeUpSource = wakeUpSource
        self.signals = SignalListener(directory.page)
    }

    deinit {
        expirySchedule.withLock { $0.task?.cancel() }
        signals.remove(.all)
        NotificationService.current?.forget(ObjectIdentifier(self))
    }

    /// Reads a group from its files, and makes it when there is none. Blocks.
    static func load(
        _ directory: GroupDirectory, options: FileGroupOptions
    ) throws(SharedCoreError) -> LocalGroup {
        do throws(SharedCoreError) {
            return try read(directory, options: options)
        } catch {
            guard error.code == .corrupt else { throw error }
            try GroupStart(directory: directory, options: options).recover(from: error)
            return try read(directory, options: options)
        }
    }

    private static func read(
        _ directory: GroupDirectory, options: FileGroupOptions
    ) throws(SharedCoreError) -> LocalGroup {
        let wakeUpSource =
            directory.access == .readOnly
            ? WakeUpSource.looks : try WakeUpSource(in: directory.directory, options.wakeUpTrial)
        let journal = try GroupStart(directory: directory, options: options).journal()
        let (follower, state) = try JournalFollower.load(
            journal, in: directory, limits: options.limits, historyByteCount: options.historyByteCount,
            effectByteCount: options.effectByteCount)
        let locks: SessionLocks
        do throws(SystemCallError) {
            locks = try SessionLocks(in: directory.directory, access: directory.access)
        } catch {
            throw SharedCoreError(error)
        }
        let group = LocalGroup(
            directory: directory, clock: options.clock, state: state, follower: follower, sessionLocks: locks,
            wakeUpSource: wakeUpSource)
        _ = try group.applyPublished()
        group.restoreJournalSpace()
        _ = try? NotificationService.shared().register(group)
        return group
    }

    /// Whether this process only reads the group.
    var isReadOnly: Bool { directory.access == .readOnly }

    /// The way in which the waiting tasks of this process are woken.
    var wakeUp: WakeUpMethod {
        switch wakeUpSource {
        case .looks: .polling(every: NotificationService.lookInterval)
        case .signals: .sharedMemory
        case .bells:
            (try? NotificationService.shared())?.isDeaf(to: self) == false ? .fileEvents : .sharedMemory
        }
    }

    /// Applies everything that is published.
    @discardableResult
    func catchUp() throws(SharedCoreError) -> JournalFollower.Standing {
        do throws(SharedCoreError) {
            return try applyPublished()
        } catch {
            guard error.code == .corrupt else { throw error }
            // Another process has in memory the records that the disk has dropped, and writes them anew.
            if position.journal.isPlausiblyAbandoned { throw untrusted(error) }
            // Any other damage stays.
            throw lose(with: error)
        }
    }

    private func applyPublished() throws(SharedCoreError) -> JournalFollower.Standing {
        try replica.update { state throws(SharedCoreError) in try self.follower.catchUp(&state) }
    }

    /// Catches up as `catchUp()` does, for a caller that waits for what others publish.
    func catchUpInPlace() throws(SharedCoreError) {
        try requirePlace()
        try catchUp()
    }

    /// The position of the replica in the order.
    var position: JournalFollower.Position {
        replica.read { state in self.follower.position(in: &state) }
    }

    /// The number of open watches and observations.
    var openCursorCount: Int { replica.openCursorCount }

    /// Reads the state with every commit in it that had returned anywhere before the call, and without entries whose
    /// time is over.
    func read<Value: Sendable>(
        _ consistency: ReadConsistency, _ body: (inout StoreState) throws(SharedCoreError) -> Value
    ) async throws(SharedCoreError) -> Value {
        switch try look(consistency, body) {
        case .value(let value): return value
        case .behind: try catchUp()
        case .expiryDue: break
        }
        if case .value(let value) = try look(mayBeBehind: true, body) { return value }
        // An entry that is over stands a little longer where its end cannot be recorded now.
        _ = try? await expire()
        return try replica.read { state throws(SharedCoreError) in try body(&state) }
    }

    /// Reads the state as ``read(_:_:)`` does, where that needs no wait: almost always.
    @inline(__always)
    func look<Value: Sendable>(
        _ consistency: ReadConsistency, _ body: (inout StoreState) throws(SharedCoreError) -> Value
    ) throws(SharedCoreError) -> Look<Value> {
        try requirePlace()
        return try look(mayBeBehind: consistency == .causal, body)
    }

    /// Reads the state as it is, which is almost always current: one load from the shared page tells.
    @inline(__always)
    private func look<Value: Sendable>(
        mayBeBehind: Bool, _ body: (inout StoreState) throws(SharedCoreError) -> Value
    ) throws(SharedCoreError) -> Look<Value> {
        // Not as the result of the replica's call, through which it would be copied.
        var look = Look<Value>.behind
        try replica.read { state throws(SharedCoreError) in
            guard mayBeBehind || self.follower.isCurrent(in: &state) else { return }
            if let due = state.nextExpiry(), due <= self.clock.now() {
                look = .expiryDue
            } else {
                look = .value(try body(&state))
            }
        }
        return look
    }
}

/// The result of reading the state.
enum Look<Value: Sendable>: Sendable {
    case value(Value)
    /// Something was published that is not applied yet.
    case behind
    /// The state holds an entry whose time is over.
    case expiryDue
}
