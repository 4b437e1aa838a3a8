internal import CoreAPI
internal import Platform
internal import Replica
internal import StoreEngine

/// Reserves disk space for hand-overs (contract S10).
extension LocalGroup {
    /// Reserves the space again if another process ended between its compaction and the new reservation. A participant
    /// calls this when it joins, so that no other program can take the space for hand-overs (contract S10). It also
    /// helps if the directory is a copy in which the spare file is missing or has no space.
    func restoreSpareSpace() async {
        let (whole, journal) = wholeSpareSpace
        guard journal.spareByteCount < whole || lacksSpareSpace(for: journal) else { return }
        await compaction.thread.run { [self] in keepSpareSpace() }
    }

    private func lacksSpareSpace(for journal: Journal) -> Bool {
        do throws(SystemCallError) {
            guard let spare = try directory.presence(of: SpareSpace.fileName) else { return true }
            if spare.byteCount < journal.spareByteCount { return true }
            return try SpareSpace.lacksSpace(spare, in: directory.directory)
        } catch {
            return false
        }
    }

    /// Restores the space behind the journal's records that its page records as reserved: a copy of the directory may
    /// have holes there. Blocks.
    func restoreJournalSpace() {
        let journal = position.journal
        let end = journal.reservedEnd
        guard !isReadOnly, let present = try? journal.file.presence(),
            (try? SpareSpace.lacksSpace(present, before: end, in: directory.directory)) == true
        else { return }
        // Under the lock, because the C library may reserve space by writing, and no record may be written there
        // meanwhile.
        _ = try? withLock { locked throws(SharedCoreError) in
            let tail = journal.word.tail
            guard locked === journal, tail < journal.reservedEnd else { return }
            do throws(SystemCallError) {
                try journal.file.allocate(tail..<journal.reservedEnd)
            } catch {
                // Record that no space is reserved, so that the next commit reserves it before it is written.
                if error.isStorageFull { journal.reservedEnd = tail }
            }
        }
    }

    /// The space to reserve if the disk has that much, and the present journal.
    var wholeSpareSpace: (byteCount: Int, journal: Journal) {
        replica.read { state in
            (SpareSpace.whole(for: state.snapshotByteCount), self.follower.position(in: &state).journal)
        }
    }

    /// Reserves space for more journals; if the disk has less, for a compaction.
    func keepSpareSpace() {
        if isReadOnly { return }
        let (whole, journal) = wholeSpareSpace
        switch keepSpareSpace(whole, for: journal) {
        case .kept: return giveBackSpareSpace()
        case .inUse: return
        case .full: break
        }
        if mustKeepSpace(journal) { return }
        giveBackSpace()
        // If the disk has less, reserve as much as it has: each part of the space for records other than content is
        // useful.
        let least = SpareSpace.compaction(of: replica.read { $0.snapshotByteCount })
        for size in stride(from: whole, through: least, by: -SpareSpace.stepByteCount)
        where keepSpareSpace(size, for: journal) != .full { return }
    }

    /// Returns whether a journal keeps the space of the spare file, because the compaction that created it is not
    /// finished: before the journals below it are removed, a spare file would be too small.
    private func mustKeepSpace(_ journal: Journal) -> Bool {
        journal.header.hasSnapshot && journal.generation > directory.page.floor
    }

    /// Frees the part of the spare file that was reserved for removed content. If another writer has the lock, the next
    /// call does it.
    private func giveBackSpareSpace() {
        func excess() -> (kept: Int, journal: Journal)? {
            let (whole, journal) = wholeSpareSpace
            let kept = whole + max(Journal.growthByteCount, whole / 4)
            return journal.spareByteCount > kept + Journal.growthByteCount ? (kept, journal) : nil
        }
        guard excess() != nil else { return }
        defer { replica.wake() }
        _ = try? withLock { locked throws(SharedCoreError) in
            let standing = try self.replica.change { state throws(SharedCoreError) in try self.follower.catchUp(&state)
            }
            guard case .current = standing, let (kept, journal) = excess(), journal === locked else { return }
            _ = try? SpareSpace.giveBack(beyond: kept, in: self.directory.directory, for: journal)
        }
    }

    /// Frees the space of the present journal that only content may use. Waits briefly for the lock.
    private func giveBackSpace() {
        let end = ContinuousClock.now.advanced(by: SpareSpace.lockTimeout)
        defer { replica.wake() }
        while true {
            let isDone: Void? = try? withLock { journal throws(SharedCoreError) in
                let standing = try self.replica.change { state throws(SharedCoreError) in
                    try self.follower.catchUp(&state)
                }
                guard case .current = standing, self.position.journal === journal else { return }
                _ = try journal.giveBackSpace(behind: journal.word.tail)
            }
            guard isDone == nil, ContinuousClock.now < end else { return }
            OwnedThread.sleep(for: .milliseconds(1))
        }
    }

    private enum SpareKeeping {
        case kept
        /// Another process has the spare file, and is reserving the space.
        case inUse
        case full
    }

    private func keepSpareSpace(_ byteCount: Int, for journal: Journal) -> SpareKeeping {
        do throws(SystemCallError) {
            try SpareSpace.keep(byteCount, in: directory.directory, for: journal, lockTimeout: SpareSpace.lockTimeout)
            return .kept
        } catch {
            return error.isSpareInUse ? .inUse : .full
        }
    }

    /// Ensures, before a record is written, that a compaction has space after it; otherwise a full disk could have no
    /// space for any ending. Under the lock.
    ///
    /// - Parameter end: The offset of the record's end.
    /// - Returns: Nil if there is enough; otherwise the error of a full disk, for a request that has waited long enough
    ///   for another process with the spare file.
    /// - Throws: `storageFull`.
    func requireSpareSpace(
        for effect: Effect, _ claim: SpaceClaim, in journal: Journal, endingAt end: Int
    ) throws(SharedCoreError) -> SharedCoreError? {
        if case .ending = claim { return nil }
        if Defect.withoutReserve.isPresent { return nil }
        let snapshot = replica.read { $0.snapshotByteCount } + effect.snapshotGrowth
        let needed = SpareSpace.rollAndCompaction(of: snapshot) + claim.spareByteCount
        guard needed > journal.spareByteCount else { return nil }
        do throws(SystemCallError) {
            // A surplus, so that most commits need not extend the file.
            let wanted = needed + max(Journal.growthByteCount, snapshot / 4)
            if case .content = claim, (try? SpareSpace.keep(wanted, in: directory.directory, for: journal)) != nil {
                return nil
            }
            try SpareSpace.keep(needed, in: directory.directory, for: journal)
        } catch  where error.isSpareInUse {
            // Another process has the spare file, and may be stopped. The file stays large enough or becomes the
            // journal of a compaction, because no process can shorten a file without holes while this process has the
            // lock.
            if let found = try? directory.presence(of: SpareSpace.fileName), found.byteCount >= needed,
                (try? SpareSpace.lacksSpace(found, in: directory.directory)) == false
            {
                return nil
            }
            return SharedCoreError(error)
        } catch {
            if error.isInodeMissing, case .content = claim { throw SharedCoreError(error) }
            // Stopped and slow processes keep the inodes of removed journals. Until an inode is free, reserve the space
            // in the journal itself.
            if error.isInodeMissing,
                (try? journal.reserveSpace(for: 0, at: end, keeping: Journal.reserveByteCount)) != nil
            {
                return nil
            }
            // Before the record is refused, free the space behind the journal's records that only further content would
            // use.
            guard error.isStorageFull, !mustKeepSpace(journal), try journal.giveBackSpace(behind: end) else {
                throw SharedCoreError(error)
            }
            _ = try SharedCoreError.wrapping { () throws(SystemCallError) in
                try SpareSpace.keep(needed, in: directory.directory, for: journal)
            }
        }
        return nil
    }
}
