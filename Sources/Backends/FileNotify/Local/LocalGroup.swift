internal import CoreAPI
internal import Platform
internal import Replica
internal import StoreEngine
internal import Synchronization

/// This process's part of a group: one replica, one writer, one set of wake channels, for any number of participants.
///
/// - Reading: checks whether the replica is at the published tail, and otherwise applies the missing records at once.
/// - Writing: `LocalGroup+Writing.swift`. Tries the lock; if it is taken, the request waits in a queue.
/// - Rolling and compaction: a new journal replaces one with a frozen writer, or a long one.
/// - Listening: the wake channels that wake this process, the processes that it watches for their end, and the time at
///   which the next entry expires.
final class LocalGroup: Sendable {
    let directory: GroupDirectory
    let clock: any TimeSource
    let replica: Replica
    let follower: JournalFollower
    let sessionLocks: SessionLocks
    let wakeChannels: WakeSignaler
    let wakeUpSource: WakeUpSource
    let signals: SignalListener

    /// Excludes the threads of this process from each other: the lock of the journal belongs to the whole process.
    let writer = Mutex(())
    let queue = WriteQueue()
    let durability = DurabilityQueue()
    let compaction = CompactionState()
    let listening = Mutex(Listening())
    let expirySchedule = Mutex(ExpirySchedule())
    /// Held while this process reads what its listeners wait for and passes it on, so that the result of an earlier
    /// read never replaces that of a later one.
    let newsOrder = Mutex(())
    let place = PlaceCheck()
    /// True while this process serves as the group's hub. It then does not signal ``WakeChannels/everything`` for its
    /// own records, so no other process may rely on that channel.
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
        self.wakeChannels = WakeSignaler(in: directory)
        self.wakeUpSource = wakeUpSource
        self.signals = SignalListener(directory.page)
    }

    deinit {
        expirySchedule.withLock { $0.task?.cancel() }
        signals.remove(.all)
        NotificationService.current?.forget(ObjectIdentifier(self))
    }

    /// Reads a group from its files, and creates it if there is none. Blocks.
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

    /// True if this process only reads the group.
    var isReadOnly: Bool { directory.access == .readOnly }

    /// The method by which waiting tasks of this process are woken.
    var wakeUp: WakeUpMethod {
        switch wakeUpSource {
        case .looks: .polling(every: NotificationService.lookInterval)
        case .signals: .sharedMemory
        case .wakeChannels:
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
            // The disk has lost records, but another process still has them in memory and writes them anew.
            if position.journal.isPlausiblyAbandoned { throw untrusted(error) }
            // Any other damage is permanent.
            throw lose(with: error)
        }
    }

    func applyPublished() throws(SharedCoreError) -> JournalFollower.Standing {
        try replica.update { state throws(SharedCoreError) in try self.follower.catchUp(&state) }
    }

    /// Catches up as `catchUp()` does, for a caller that waits for commits of other processes.
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

    /// Reads the state, which includes every commit that had returned in any process before the call, and no expired
    /// entries.
    func read<Value: Sendable>(
        _ consistency: ReadConsistency, _ body: (inout StoreState) throws(SharedCoreError) -> Value
    ) async throws(SharedCoreError) -> Value {
        switch try look(consistency, body) {
        case .value(let value): return value
        case .behind: try catchUp()
        case .expiryDue: break
        }
        if case .value(let value) = try look(mayBeBehind: true, body) { return value }
        // An expired entry remains a little longer if its end cannot be recorded now.
        _ = try? await expire()
        return try replica.read { state throws(SharedCoreError) in try body(&state) }
    }

    /// Reads the state as ``read(_:_:)`` does, unless that requires a wait, which it almost never does.
    @inline(__always)
    func look<Value: Sendable>(
        _ consistency: ReadConsistency, _ body: (inout StoreState) throws(SharedCoreError) -> Value
    ) throws(SharedCoreError) -> Look<Value> {
        try requirePlace()
        return try look(mayBeBehind: consistency == .causal, body)
    }

    /// Reads the state if it is current, which one load from the shared page shows and which is almost always the case.
    @inline(__always)
    private func look<Value: Sendable>(
        mayBeBehind: Bool, _ body: (inout StoreState) throws(SharedCoreError) -> Value
    ) throws(SharedCoreError) -> Look<Value> {
        // Assigned inside the closure, because a returned value would be copied.
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
    /// There are published records that are not applied yet.
    case behind
    /// The state contains an expired entry.
    case expiryDue
}
