internal import CoreAPI
internal import Platform
internal import Replica
internal import StoreEngine
internal import Synchronization

/// How a journal that became long is replaced by one with a snapshot.
///
/// The snapshot is written outside the lock; what was committed meanwhile is added under it. Then the old journal is
/// sealed at the tail that the new one was built from, and the new one gets its name.
extension LocalGroup {
    /// The least length of a log that is compacted.
    static let compactionByteCount = 1 << 20
    /// The byte whose lock the one compacting process holds.
    private static let compactionLockByte = 1

    /// Starts a compaction on a thread of its own when the log is much longer than what it describes.
    func compactWhenLong() {
        let (log, live) = replica.read { state in (self.follower.logByteCount(in: &state), state.byteCount) }
        guard log > max(Self.compactionByteCount, 2 * live), log > compaction.retryByteCount.load(ordering: .relaxed)
        else { return }
        startCompaction()
    }

    /// Starts a compaction unless one runs in this process.
    func startCompaction() {
        guard compaction.isRunning.compareExchange(expected: false, desired: true, ordering: .acquiring).exchanged
        else { return }
        compaction.thread.submit { [self] in
            let isDone = (try? compact()) ?? false
            let log = replica.read { state in self.follower.logByteCount(in: &state) }
            compaction.retryByteCount.store(
                isDone ? 0 : log + Self.compactionByteCount / 4, ordering: .relaxed)
            compaction.isRunning.store(false, ordering: .releasing)
        }
    }

    /// Replaces the present journal by one with a snapshot. Blocks.
    ///
    /// - Returns: Whether this call has done it; false when another process does it or something came between.
    func compact() throws(SharedCoreError) -> Bool {
        if isReadOnly { throw .readOnly(directory.directory.path) }
        guard try replaceJournal() else { return false }
        // Behind all that held the old journal open: only then its space is free.
        keepSpareSpace()
        return true
    }

    private func replaceJournal() throws(SharedCoreError) -> Bool {
        try lookAtPlace()
        let captured = try replica.update { state throws(SharedCoreError) -> Captured? in
            guard case .current = try self.follower.catchUp(&state) else { return nil }
            return Captured(
                state: state, position: self.follower.position(in: &state), log: self.follower.logByteCount(in: &state))
        }
        guard let captured else { return false }
        let journal = captured.position.journal
        guard try takeCompactionLock(of: journal, log: captured.log, live: captured.state.byteCount) else {
            return false
        }
        defer { journal.file.unlock(byteAt: Self.compactionLockByte) }

        let builder = try JournalBuilder(
            journal.generation + 1, in: directory, snapshotByteCount: Self.snapshotByteCount(of: captured.state))
        try captured.state.writeSnapshot { payload throws(SharedCoreError) in try builder.append(payload) }
        FailPoint.hit("compaction.afterSnapshot")
        // Most of it outside the lock.
        try builder.synchronize()

        guard let inherited = try replace(captured.position, by: builder) else { return false }
        try catchUp()
        moveListeners(inherited, to: journal.generation + 1)
        FailPoint.hit("compaction.beforeFloor")
        // Without power, either the old journals are found or the new one, so nothing old is removed before the new one
        // is on the disk, whatever the durability: a group must not be lost. A disk that refuses keeps the old ones.
        guard (try? builder.settle()) != nil else { return true }
        FailPoint.hit("compaction.afterFloor")
        directory.removeObsolete()
        return true
    }

    private struct Captured: Sendable {
        let state: StoreState
        let position: JournalFollower.Position
        let log: Int
    }

    /// What became of the old journal under the lock.
    private enum Replacement {
        case done(Bells)
        case overtaken
    }

    /// One process at a time compacts. One that is frozen while it does holds up the others only as long as the log is
    /// bearable.
    private func takeCompactionLock(of journal: Journal, log: Int, live: Int) throws(SharedCoreError) -> Bool {
        do throws(SystemCallError) {
            if try journal.file.tryLock(byteAt: Self.compactionLockByte) { return true }
        } catch {
            throw SharedCoreError(error)
        }
        return log > 4 * max(Self.compactionByteCount, 2 * live)
    }

    /// Adds what was committed since the snapshot, seals the old journal and gives the new one its name.
    ///
    /// - Returns: The interest of the old journal; nil when another one has taken its place.
    private func replace(
        _ position: JournalFollower.Position, by builder: JournalBuilder
    ) throws(SharedCoreError) -> Bells? {
        var patience = Patience()
        while true {
            // Also when it fails: what it came across under the lock is applied, and no later look would tell.
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
                    try builder.append(try effect.payload())
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
                    predecessorTail: tail, inherited: inherited, isDurable: false)
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
