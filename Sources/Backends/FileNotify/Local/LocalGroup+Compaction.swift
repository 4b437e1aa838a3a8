internal import CoreAPI
internal import Platform
internal import Replica
internal import StoreEngine
internal import Synchronization

/// How a journal that became long is replaced by one with a snapshot.
///
/// The snapshot is written outside the lock; the commits since then are added under it. Then the old journal is sealed
/// at the tail that the new one was built from, and the new one gets its name.
extension LocalGroup {
    /// The least length of a log that is compacted.
    static let compactionByteCount = 1 << 20
    /// The least length of a log behind which no commit goes before it is compacted.
    private static let longestByteCount = 2 << 20
    /// The least that a compaction has to give back where a full disk has refused content.
    private static let regainedByteCount = 64 << 10

    /// Starts a compaction on a thread of its own when the log is longer than the state that it describes. On a full
    /// disk it does nothing: this process may end before the kept space is kept again.
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

    /// Whether a transaction waits where the log is long, by the rule for what commits may use of the room that content leaves.
    func waitsForRoom(_ transaction: Transaction) -> Bool {
        replica.read { $0.claim(of: transaction.operations).waitsForRoom }
    }

    /// Waits for a compaction when the log is so long that a commit must not make it longer: the process that commits
    /// may live for one commit only, and then nobody else would do it (contract S10).
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

    /// Waits for a compaction where many writers were passed over: each of them, and each process that passes one over,
    /// may end or stand still in its first commit (contract S10).
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

    /// Compacts where a full disk has refused content and a compaction frees space for it. Otherwise nothing is done:
    /// content that is refused again and again must not put the space kept for endings at risk each time.
    ///
    /// - Parameter before: The length of the log before the content was refused: another process may have compacted
    ///   since.
    /// - Returns: Whether the log is shorter now.
    func regainRoom(for transaction: Transaction, from before: Int) async -> Bool {
        // If this process had not read all published records yet, it was longer.
        let before = max(before, logSizes.log)
        if canRegainRoom(for: transaction) {
            await compaction.thread.run { [self] in
                guard (try? catchUp()) != nil, canRegainRoom(for: transaction) else { return }
                compactOnce()
            }
        }
        return logSizes.log < before
    }

    /// Returns whether a compaction would free space for content on a full disk. Right after one it would not.
    private func canRegainRoom(for transaction: Transaction) -> Bool {
        guard compaction.awaited.mayBegin(atLength: logByteCount) else { return false }
        let garbage = replica.read { state in self.follower.garbageByteCount(in: &state) }
        let (whole, journal) = wholeSpareSpace
        // The spare file is filled up before content has its space.
        let missing = max(0, whole - journal.spareByteCount)
        let free = (try? directory.directory.freeByteCount()) ?? 0
        return garbage >= Self.regainedByteCount && free + garbage >= transaction.spaceByteCount + missing
    }

    /// The bytes of the log, and those of the state that it describes.
    private var logSizes: (log: Int, live: Int) {
        replica.read { state in (self.follower.logByteCount(in: &state), state.byteCount) }
    }

    /// How long the log is, in bytes.
    var logByteCount: Int { logSizes.log }

    /// Whether the log is so long that content waits for a compaction.
    var mustMakeRoom: Bool { isLong(logSizes, beyond: Self.longestByteCount, percent: 200) }

    /// Returns whether the log is longer than a size and than so many hundredths of the state that it describes. After
    /// a compaction that failed it may grow a little before the next one.
    private func isLong(_ sizes: (log: Int, live: Int), beyond byteCount: Int, percent: Int) -> Bool {
        sizes.log > max(byteCount, sizes.live / 100 * percent)
            && compaction.awaited.mayBegin(atLength: sizes.log)
    }

    /// The number of times that a compaction is tried for one commit.
    private static let attemptLimit = 3

    /// Tries for a commit that waits: anew in the journal behind a frozen writer that was passed over for it. After a
    /// failure the log has to grow before the next try. Blocks.
    private func compactOnce() {
        _ = try? finishCompaction()
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
    ///   - isUrgent: Whether another process that compacts is waited for, and then passed over.
    ///   - usesSpareSpace: Whether the space that is kept is used on a full disk; see ``JournalBuilder``.
    /// - Returns: Whether this call has done it; false when another process does it or another change came between.
    func compact(isUrgent: Bool = false, usesSpareSpace: Bool = true) throws(SharedCoreError) -> Bool {
        if isReadOnly { throw .readOnly(directory.directory.path) }
        // The locks of a journal are those of the process: of its own threads only this keeps all but one out.
        let isReplaced = try compaction.exclusion.withLock { _ throws(SharedCoreError) in
            try replaceJournal(isUrgent: isUrgent, usesSpareSpace: usesSpareSpace)
        }
        guard isReplaced else { return false }
        FailPoint.hit("compaction.beforeSpare")
        // Behind all that held the old journal open: only then its space is free.
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
        // Removes the journals that a process left which ended behind its floor: otherwise each such short-lived
        // process leaves one.
        directory.removeObsolete()

        let builder = try SharedCoreError.wrapping { () throws(SystemCallError) in
            try JournalBuilder(
                journal.generation + 1, in: directory, snapshotByteCount: captured.state.snapshotByteCount,
                usesSpareSpace: usesSpareSpace)
        }
        do throws(SharedCoreError) {
            try captured.state.writeSnapshot { payload throws(SharedCoreError) in try builder.append(payload) }
        } catch {
            // Large values are read from journals, and those below the floor have given their space back.
            guard error.code == .corrupt, directory.page.floor > journal.generation else { throw error }
            return false
        }
        FailPoint.hit("compaction.afterSnapshot")
        // Most of it outside the lock.
        try builder.synchronize()

        guard let inherited = try replace(captured.position, by: builder) else { return false }
        try catchUp()
        moveListeners(inherited, to: journal.generation + 1)
        FailPoint.hit("compaction.beforeFloor")
        // Without power, either the old journals are found or the new one, so nothing old is removed before the new one
        // is on the disk, with any durability: a group must not be lost. A disk that refuses keeps the old ones.
        guard (try? builder.settle()) != nil else {
            rescue()
            return true
        }
        FailPoint.hit("compaction.afterFloor")
        directory.removeObsolete()
        return true
    }

    /// Finishes the compaction of a process that ended before the journals in front of the new one were removed: on a
    /// full disk their space is needed for the next one. Blocks.
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
        case done(Bells)
        case overtaken
    }

    /// The time that another process that compacts is waited for before it is taken for frozen.
    private static let compactionPatience = Duration.milliseconds(250)

    /// The result of trying to become the process that compacts.
    private enum CompactionClaim {
        /// This process has locked the byte.
        case locked(Int)
        /// All bytes stayed locked for their time, so their holders count as frozen. Compacts without a lock; the first
        /// process to seal the journal wins.
        case unlocked
        /// Another process compacts, or has compacted.
        case refused
    }

    /// Takes the lock of the one process that compacts. A process that is frozen while it has it is passed over: the
    /// next one takes the next of these bytes, so that only one passes over it at a time.
    private func claimCompaction(at journal: Journal, isUrgent: Bool) throws(SharedCoreError) -> CompactionClaim {
        for byte in Journal.compactionLockByte..<Journal.compactionLockByte + 4 {
            let end = ContinuousClock.now.advanced(by: Self.compactionPatience)
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
    /// - Returns: The interest of the old journal; nil when another one has taken its place.
    private func replace(
        _ position: JournalFollower.Position, by builder: JournalBuilder
    ) throws(SharedCoreError) -> Bells? {
        var patience = Patience()
        while true {
            // Also when it fails: the records that it read under the lock are applied, and no later read would report
            // them.
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
                    try builder.append(try effect.payload(), ringing: Bells(of: effect))
                    return true
                }
                guard from.offset == tail else { return .overtaken }
                if FailPoint.fails("compaction.beforeSeal") {
                    throw SharedCoreError(SystemCallError("pwrite", number: 5, at: journal.file.path))
                }
                guard Defect.unsealedCompaction.isPresent || journal.seal(at: tail) else { return .overtaken }
                FailPoint.hit("compaction.afterSeal")
                let inherited = journal.interest
                self.bells.prepare(inherited)
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
            try overtake(&patience)
            guard self.position.journal === position.journal else { return nil }
        }
    }
}

/// Whether a compaction runs in this process, and the thread that it runs on.
final class CompactionState: Sendable {
    let thread = SerialThread(name: "sc-compact")
    let isRunning = Atomic(false)
    /// Held while a thread of this process compacts.
    let exclusion = Mutex(())
    /// The time at which the group is written anew again, after the disk has refused.
    let retry = Mutex(RetryPause())
    /// Those that a commit waits for.
    let awaited = CompactionTries()
    /// Those that no commit waits for, which fail on a full disk.
    let background = CompactionTries()
}

/// The time at which a compaction that failed is tried again: behind some more log, or when another one has made the
/// log shorter.
final class CompactionTries: Sendable {
    /// How long the log was when one failed; 0 when the last one did not.
    private let failedLength = Atomic(0)

    /// How many bytes longer the log must be.
    private static let growth = LocalGroup.compactionByteCount / 4

    func mayBegin(atLength length: Int) -> Bool {
        let failed = failedLength.load(ordering: .relaxed)
        return failed == 0 || length < failed || length > failed + Self.growth
    }

    func ended(isDone: Bool, atLength length: Int) {
        failedLength.store(isDone ? 0 : length, ordering: .relaxed)
    }
}
