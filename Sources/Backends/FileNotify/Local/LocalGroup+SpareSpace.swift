internal import CoreAPI
internal import Platform
internal import Replica
internal import StoreEngine

/// How a group keeps space on the disk for changes of hands (contract S10).
extension LocalGroup {
    /// Keeps space again where a process has ended behind its compaction before it did: the next participant does it,
    /// so that no other program takes the space for changes of hands meanwhile (contract S10). And where a copy of the
    /// directory has the file without its space, or not at all.
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

    /// Sees to it that the journal has the space behind its records that its words tell of: a copy of the directory may
    /// have left holes there. Blocks.
    func restoreJournalSpace() {
        let journal = position.journal
        let end = journal.reservedEnd
        guard !isReadOnly, let present = try? journal.file.presence(),
            (try? SpareSpace.lacksSpace(present, before: end, in: directory.directory)) == true
        else { return }
        // Under the lock: where the C library reserves space by writing, no record may come there meanwhile.
        _ = try? withLock { locked throws(SharedCoreError) in
            let tail = journal.word.tail
            guard locked === journal, tail < journal.reservedEnd else { return }
            do throws(SystemCallError) {
                try journal.file.allocate(tail..<journal.reservedEnd)
            } catch {
                // The next commit asks for space before it is written.
                if error.isStorageFull { journal.reservedEnd = tail }
            }
        }
    }

    /// How much space is kept where there is so much, and the present journal.
    var wholeSpareSpace: (byteCount: Int, journal: Journal) {
        replica.read { state in
            (SpareSpace.whole(for: state.snapshotByteCount), self.follower.position(in: &state).journal)
        }
    }

    /// Sees to it that there is space for more journals; if there is not so much, for a compaction.
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
        // As much as there is: any part of the space that is kept for other records than content is of use.
        let least = SpareSpace.compaction(of: replica.read { $0.snapshotByteCount })
        for size in stride(from: whole, through: least, by: -SpareSpace.stepByteCount)
        where keepSpareSpace(size, for: journal) != .full { return }
    }

    /// Returns whether a journal keeps its space in place of the spare file, because the compaction that has made it is
    /// not finished: before the journals in front of it are removed, a spare file would be too small.
    private func mustKeepSpace(_ journal: Journal) -> Bool {
        journal.header.hasSnapshot && journal.generation > directory.page.floor
    }

    /// Gives back the part of the spare file that was kept for content that is gone. If another writer has the lock,
    /// the next call does it.
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

    /// Gives back the space of the present journal that only content may use: it comes last. Waits a little for the
    /// lock.
    private func giveBackSpace() {
        let end = ContinuousClock.now.advanced(by: SpareSpace.patience)
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
        /// Another process has the file, and keeps the space.
        case inUse
        case full
    }

    private func keepSpareSpace(_ byteCount: Int, for journal: Journal) -> SpareKeeping {
        do throws(SystemCallError) {
            try SpareSpace.keep(byteCount, in: directory.directory, for: journal, patience: SpareSpace.patience)
            return .kept
        } catch {
            return error.isSpareInUse ? .inUse : .full
        }
    }

    /// Makes sure that a compaction has space after a record, before it is written; otherwise a full disk could have no
    /// space for any ending. Under the lock.
    ///
    /// - Parameter end: The offset of the record's end.
    /// - Returns: Nil when there is enough; else the error of a full disk, for a request that has waited long enough
    ///   for another process that has the spare file now.
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
            // So much more that most commits need not ask.
            let wanted = needed + max(Journal.growthByteCount, snapshot / 4)
            if case .content = claim, (try? SpareSpace.keep(wanted, in: directory.directory, for: journal)) != nil {
                return nil
            }
            try SpareSpace.keep(needed, in: directory.directory, for: journal)
        } catch  where error.isSpareInUse {
            // A process that stands still may have it for long. It is large enough all the same, or becomes the journal
            // of a compaction: under this lock no process makes one smaller that has no holes.
            if let found = try? directory.presence(of: SpareSpace.fileName), found.byteCount >= needed,
                (try? SpareSpace.lacksSpace(found, in: directory.directory)) == false
            {
                return nil
            }
            return SharedCoreError(error)
        } catch {
            if error.isInodeMissing, case .content = claim { throw SharedCoreError(error) }
            // Stopped and slow processes keep the inodes of journals that were removed. Until one is free, the journal
            // has to have the space itself.
            if error.isInodeMissing,
                (try? journal.reserveSpace(for: 0, at: end, keeping: Journal.reserveByteCount)) != nil
            {
                return nil
            }
            // None is refused while the journal has space that only other content needs.
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
