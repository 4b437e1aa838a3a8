internal import CoreAPI
internal import Platform
internal import Replica
internal import StoreEngine
internal import Synchronization

/// Replaces a long journal by one with a snapshot.
///
/// The snapshot is written outside the lock; the commits since then are added under it. Then the old journal is sealed
/// at the tail that the new one was built from, and the new one gets its name.
extension LocalGroup {
    /// The least length of a log that is compacted.
    static let compactionByteCount = 1 << 20
    /// The least length of a log at which commits wait for a compaction.
    private static let longestByteCount = 2 << 20
    /// The least that a compaction must free after a full disk has refused content.
    private static let regainedByteCount = 64 << 10

    /// Starts a compaction on a thread of its own when the log is longer than the state that it describes. On a full
    /// disk it does nothing, because it would use the reserved space, and this process may end before that is reserved
    /// again.
    func compactWhenLong() {
        let sizes = logSizes
        guard isLong(sizes, beyond: Self.compactionByteCount, percent: 150),
            compaction.background.mayBegin(atLength: sizes.log),
            compaction.isRunning.compareExchange(expected: false, desired: true, ordering: .acquiring).exchanged
        else { return }
        compaction.thread.submit { [self] in
            let isDone = (try? compact(usesSpareSpace: false)) ?? false
            compaction.background.ended(isDone: isDone, atLength: logByteCount)
            compaction.isRunning.store(false, ordering: .releasing)
        }
    }

    /// Returns whether a transaction must wait when the log is long. Commits of content and of session entries wait;
    /// commits of coordination and commits that only remove do not (``RoomClaim/waitsForRoom``).
    func waitsForRoom(_ transaction: Transaction) -> Bool {
        replica.read { $0.claim(of: transaction.operations).waitsForRoom }
    }

    /// Waits for a compaction when the log is so long that a commit must not extend it. Without this wait no compaction
    /// would take place if each process ends after a single commit (contract S10).
    ///
    /// - Returns: The length of the log.
    func makeRoom() async -> Int {
        let sizes = logSizes
        guard isLong(sizes, beyond: Self.longestByteCount, percent: 200) else { return sizes.log }
        await compaction.thread.run { [self] in
            guard (try? catchUp()) != nil, mustMakeRoom else { return }
            compactOnce()
        }
        return logSizes.log
    }

    /// Waits for a compaction after many new journals because of frozen writers. Without this wait no compaction would
    /// take place if each process ends or stops in its first commit (contract S10).
    func makeRoomBehindPassedOver() async {
        guard hasPassedOverMany else { return }
        await compaction.thread.run { [self] in
            guard (try? catchUp()) != nil, hasPassedOverMany else { return }
            compactOnce()
        }
    }

    private var hasPassedOverMany: Bool {
        let (log, passedOver) = replica.read { state in
            (self.follower.logByteCount(in: &state), self.follower.passedOverByteCount(in: &state))
        }
        return passedOver > Self.longestByteCount && compaction.awaited.mayBegin(atLength: log)
    }

    /// Compacts after a full disk has refused content, but only if a compaction frees space for it. A useless
    /// compaction after each refusal would put the space for endings at risk.
    ///
    /// - Parameter before: The length of the log before the content was refused. Another process may have compacted
    ///   since.
    /// - Returns: Whether the log is shorter now.
    func regainRoom(for transaction: Transaction, from before: Int) async -> Bool {
        // If this process had not read all published records at that time, the log was longer than `before` says.
        let before = max(before, logSizes.log)
        if canRegainRoom(for: transaction) {
            await compaction.thread.run { [self] in
                guard (try? catchUp()) != nil, canRegainRoom(for: transaction) else { return }
                compactOnce()
            }
        }
        return logSizes.log < before
    }

    /// Returns whether a compaction would free space for content on a full disk. Right after another compaction it
    /// would not.
    private func canRegainRoom(for transaction: Transaction) -> Bool {
        guard compaction.awaited.mayBegin(atLength: logByteCount) else { return false }
        let garbage = replica.read { state in self.follower.garbageByteCount(in: &state) }
        let (whole, journal) = wholeSpareSpace
        // The freed space first fills up the spare file; only the rest is available for content.
        let missing = max(0, whole - journal.spareByteCount)
        let free = (try? directory.directory.freeByteCount()) ?? 0
        return garbage >= Self.regainedByteCount && free + garbage >= transaction.spaceByteCount + missing
    }

    /// The bytes of the log and of the state that it describes.
    private var logSizes: (log: Int, live: Int) {
        replica.read { state in (self.follower.logByteCount(in: &state), state.byteCount) }
    }

    /// The length of the log in bytes.
    var logByteCount: Int { logSizes.log }

    /// True if the log is so long that commits of content wait for a compaction.
    var mustMakeRoom: Bool { isLong(logSizes, beyond: Self.longestByteCount, percent: 200) }

    /// Returns whether the log is longer than a size and than a percentage of the state that it describes. After a
    /// failed compaction it may grow a little before the next one.
    private func isLong(_ sizes: (log: Int, live: Int), beyond byteCount: Int, percent: Int) -> Bool {
        sizes.log > max(byteCount, sizes.live / 100 * percent)
            && compaction.awaited.mayBegin(atLength: sizes.log)
    }

    /// The number of times that a compaction is tried for one commit.
    private static let attemptLimit = 3

    /// Compacts for a waiting commit. If a frozen writer has the lock, the order continues in a new journal, and the
    /// compaction starts again there. After a failure the log must grow before the next try. Blocks.
    private func compactOnce() {
        var isDone = false
        for _ in 0..<Self.attemptLimit {
            let journal = position.journal
            isDone = (try? compact(isUrgent: true)) ?? false
            let present = position.journal
            if isDone || present === journal || present.header.hasSnapshot { break }
        }
        compaction.awaited.ended(isDone: isDone, atLength: logByteCount)
    }

    /// Replaces the present journal by one with a snapshot. Blocks.
    ///
    /// - Parameters:
    ///   - isUrgent: Whether to wait for another process that compacts, and then to pass over it.
    ///   - usesSpareSpace: Whether the reserved space is used on a full disk; see ``JournalBuilder``.
    /// - Returns: Whether this call has done it; false if another process does it or the journal has changed meanwhile.
    func compact(isUrgent: Bool = false, usesSpareSpace: Bool = true) throws(SharedCoreError) -> Bool {
        if isReadOnly { throw .readOnly(directory.directory.path) }
        // The locks of a journal belong to the process, so only this mutex excludes its other threads.
        let isReplaced = try compaction.exclusion.withLock { _ throws(SharedCoreError) in
            try replaceJournal(isUrgent: isUrgent, usesSpareSpace: usesSpareSpace)
        }
        guard isReplaced else { return false }
        FailPoint.hit("compaction.beforeSpare")
        // Must follow the release of the old journal: the disk gets its space only when no code has it open any more.
        keepSpareSpace()
        return true
    }

    private func replaceJournal(isUrgent: Bool, usesSpareSpace: Bool) throws(SharedCoreError) -> Bool {
        try lookAtPlace()
        let captured = try replica.update { state throws(SharedCoreError) -> Captured? in
            guard case .current = try self.follower.catchUp(&state) else { return nil }
            return Captured(state: state, position: self.follower.position(in: &state))
        }
        guard let captured else { return false }
        let journal = captured.position.journal
        let turn = try claimCompaction(at: journal, isUrgent: isUrgent)
        if case .refused = turn { return false }
        defer { if case .locked(let byte) = turn { journal.file.unlock(byteAt: byte) } }
        // Removes the journals that another process has left because it ended right before or after it raised the
        // floor. Otherwise each such short-lived process would leave one.
        if (try? finishCompaction()) != true { directory.removeObsolete() }

        let builder = try SharedCoreError.wrapping { () throws(SystemCallError) in
            try JournalBuilder(
                journal.generation + 1, in: directory, snapshotByteCount: captured.state.snapshotByteCount,
                usesSpareSpace: usesSpareSpace)
        }
        do throws(SharedCoreError) {
            try captured.state.writeSnapshot { payload throws(SharedCoreError) in try builder.append(payload) }
        } catch {
            // Large values are read from journals, and those below the floor have freed their space.
            guard error.code == .corrupt, directory.page.floor > journal.generation else { throw error }
            return false
        }
        FailPoint.hit("compaction.afterSnapshot")
        // Most of the sync is done outside the lock.
        try builder.synchronize()

        guard let inherited = try replace(captured.position, by: builder) else { return false }
        try catchUp()
        moveListeners(inherited, to: journal.generation + 1)
        FailPoint.hit("compaction.beforeFloor")
        // After a loss of power, either the old journals or the new one must be found. So no old journal is removed
        // before the new one is on the disk, with any durability. If the sync fails, the old ones stay.
        guard (try? builder.settle()) != nil else {
            rescue()
            return true
        }
        FailPoint.hit("compaction.afterFloor")
        directory.removeObsolete()
        return true
    }

    /// Finishes the compaction of a process that ended before it removed the journals below the new one: on a full disk
    /// their space is needed for the next compaction. Blocks.
    ///
    /// - Returns: Whether there was such a compaction.
    func finishCompaction() throws(SharedCoreError) -> Bool {
        try catchUp()
        var journal = position.journal
        while !journal.header.hasSnapshot, let before = try directory.journal(journal.generation - 1) {
            journal = before
        }
        guard journal.header.hasSnapshot, journal.generation > directory.page.floor, !journal.word.isAbandoned else {
            return false
        }
        FailPoint.hit("compaction.beforeFinish")
        do throws(SystemCallError) {
            try journal.file.synchronizeContent()
            try directory.directory.synchronizeNames()
            directory.page.raiseFloor(to: journal.generation)
            try directory.page.synchronize()
        } catch {
            if error.isFailedSync {
                journal.abandon()
                rescue()
            }
            throw SharedCoreError(error)
        }
        directory.removeObsolete()
        keepSpareSpace()
        return true
    }

    private struct Captured: Sendable {
        let state: StoreState
        let position: JournalFollower.Position
    }

    /// The outcome of the replacement under the lock.
    private enum Replacement {
        case done(WakeChannels)
        case overtaken
    }

    /// The time to wait for another compacting process before it counts as frozen.
    private static let compactionTimeout = Duration.milliseconds(250)

    /// The result of trying to become the process that compacts.
    private enum CompactionClaim {
        /// This process has locked the byte.
        case locked(Int)
        /// Each byte stayed locked for ``compactionTimeout``, so their holders count as frozen. This process compacts
        /// without a lock; the first process to seal the journal wins.
        case unlocked
        /// Another process compacts, or has compacted.
        case refused
    }

    /// Takes the lock that lets only one process compact. If its holder is frozen, the next process takes the lock of
    /// the next byte, so that again only one process at a time continues in its place.
    private func claimCompaction(at journal: Journal, isUrgent: Bool) throws(SharedCoreError) -> CompactionClaim {
        for byte in Journal.compactionLockByte..<Journal.compactionLockByte + 4 {
            let end = ContinuousClock.now.advanced(by: Self.compactionTimeout)
            repeat {
                do throws(SystemCallError) {
                    if try journal.file.tryLock(byteAt: byte) { return .locked(byte) }
                } catch {
                    throw SharedCoreError(error)
                }
                guard isUrgent, !journal.word.isSealed else { return .refused }
                OwnedThread.sleep(for: .milliseconds(2))
            } while ContinuousClock.now < end
        }
        return .unlocked
    }

    /// Adds the commits since the snapshot, seals the old journal and gives the new one its name.
    ///
    /// - Returns: The interest of the old journal; nil if another journal has replaced it.
    private func replace(
        _ position: JournalFollower.Position, by builder: JournalBuilder
    ) throws(SharedCoreError) -> WakeChannels? {
        var lockTimeout = LockTimeout()
        while true {
            // Wake the listeners even after a failure: records that were read under the lock are applied already, so no
            // later read would report them.
            defer { replica.wake() }
            let replacement = try withLock { journal throws(SharedCoreError) -> Replacement in
                let present = try self.replica.change { state throws(SharedCoreError) -> Journal? in
                    guard case .current = try self.follower.catchUp(&state) else { return nil }
                    return self.follower.position(in: &state).journal
                }
                guard journal === position.journal, present === journal else { return .overtaken }
                let tail = journal.word.tail
                var from = position
                try JournalFollower.read(from: &from, to: tail) { record throws(SharedCoreError) in
                    guard case .effect(let effect) = record else { return false }
                    try builder.append(try effect.payload(), signaling: WakeChannels(of: effect))
                    return true
                }
                guard from.offset == tail else { return .overtaken }
                if FailPoint.fails("compaction.beforeSeal") {
                    throw SharedCoreError(SystemCallError("pwrite", number: 5, at: journal.file.path))
                }
                guard Defect.unsealedCompaction.isPresent || journal.seal(at: tail) else { return .overtaken }
                FailPoint.hit("compaction.afterSeal")
                let inherited = journal.interest
                self.wakeChannels.prepare(inherited)
                let isPlaced = try builder.place(
                    incarnation: journal.header.incarnation, bootID: journal.header.bootID, hasSnapshot: true,
                    predecessorTail: tail, inherited: inherited, isAbandoned: journal.word.isAbandoned,
                    isDurable: false)
                return isPlaced ? .done(inherited) : .overtaken
            }
            switch replacement {
            case .done(let inherited): return inherited
            case .overtaken: return nil
            case nil: break
            }
            try overtake(&lockTimeout)
            guard self.position.journal === position.journal else { return nil }
        }
    }
}

/// The state of the compactions in this process, and their thread.
final class CompactionState: Sendable {
    let thread = SerialThread(name: "sc-compact")
    let isRunning = Atomic(false)
    /// Held while a thread of this process compacts.
    let exclusion = Mutex(())
    /// When to try again to write the group anew after a failed sync.
    let retry = Mutex(RetryPause())
    /// Compactions for which a commit waits.
    let awaited = CompactionTries()
    /// Compactions for which no commit waits, which fail on a full disk.
    let background = CompactionTries()
}

/// Decides when a failed compaction is tried again: after the log has grown, or after another compaction has shortened
/// it.
final class CompactionTries: Sendable {
    /// The length of the log at a failure; 0 if the last compaction succeeded.
    private let failedLength = Atomic(0)

    /// The growth of the log, in bytes, before the next try.
    private static let growth = LocalGroup.compactionByteCount / 4

    func mayBegin(atLength length: Int) -> Bool {
        let failed = failedLength.load(ordering: .relaxed)
        return failed == 0 || length < failed || length > failed + Self.growth
    }

    func ended(isDone: Bool, atLength length: Int) {
        failedLength.store(isDone ? 0 : length, ordering: .relaxed)
    }
}
