internal import CoreAPI
internal import Glibc
internal import Platform
internal import Replica
internal import StoreEngine

/// How the order goes on in a new journal.
extension LocalGroup {
    /// Waits a little for whoever holds the lock, or passes over them when they are frozen. Blocks.
    func overtake(_ patience: inout Patience) throws(SharedCoreError) {
        let journal = position.journal
        if case .sealed = try catchUp() {
            let present = position.journal
            if patience.isOver(at: present) {
                if let builder = try successorBuilder(of: present) { try makeSuccessor(of: present, with: builder) }
                patience.reset()
                return
            }
        } else if patience.isOver(at: journal) {
            // Before the seal: where there is no space for the next journal, the frozen writer may still go on in this one.
            guard let builder = try successorBuilder(of: journal) else { return patience.reset() }
            FailPoint.hit("roll.beforeSeal")
            if journal.seal(at: journal.word.tail) || journal.word.isSealed {
                FailPoint.hit("roll.afterSeal")
                try makeSuccessor(of: journal, with: builder)
            }
            patience.reset()
            return
        }
        patience.pause()
    }

    /// Makes the journal in which the order goes on after a sealed one: no copy of anything, so it takes no time to
    /// speak of. Whoever comes second finds it made. Blocks.
    ///
    /// With the last inode, a copy of everything: no compaction could be written behind it, and the journals before it
    /// would keep theirs.
    private func makeSuccessor(of journal: Journal, with builder: JournalBuilder) throws(SharedCoreError) {
        guard case .sealed = try catchUp() else { return }
        let position = position
        guard position.journal === journal else { return }
        try lookAtPlace()
        // Listeners set their bits before they look at the word, so after the seal none is missing.
        let inherited = Defect.lostInterest.isPresent ? [] : journal.interest
        bells.prepare(inherited)
        let hasSnapshot = builder.hasLastInode
        if hasSnapshot, try !writeSnapshot(at: position, to: builder) { return }
        let isPlaced = try builder.place(
            incarnation: journal.header.incarnation, bootID: journal.header.bootID, hasSnapshot: hasSnapshot,
            predecessorTail: position.offset, inherited: inherited, isAbandoned: journal.word.isAbandoned,
            isDurable: false)
        FailPoint.hit("roll.afterPlace")
        // Abandoned by a process that found no successor yet.
        if isPlaced, journal.word.isAbandoned { try directory.journal(journal.generation + 1)?.abandon() }
        try catchUp()
        if isPlaced { moveListeners(inherited, to: journal.generation + 1) }
        if isPlaced, hasSnapshot {
            compaction.thread.submit { [self] in _ = try? finishCompaction() }
        }
        keepSpareSpace()
    }

    /// Begins the journal behind one that is sealed, or is to be. Blocks.
    ///
    /// - Returns: Nil when another process has made it meanwhile.
    private func successorBuilder(of journal: Journal) throws(SharedCoreError) -> JournalBuilder? {
        let end = ContinuousClock.now.advanced(by: SpareSpace.makerPatience)
        var isFinished = false
        while true {
            do throws(SystemCallError) {
                return try JournalBuilder(journal.generation + 1, in: directory)
            } catch {
                if error.isSpareInUse, ContinuousClock.now < end {
                    usleep(1_000)
                } else {
                    // The journals before one with a snapshot may be there still.
                    guard error.isStorageFull, !isFinished, (try? finishCompaction()) == true else {
                        throw SharedCoreError(error)
                    }
                    isFinished = true
                }
            }
            try catchUp()
            guard position.journal === journal else { return nil }
        }
    }

    /// Writes the snapshot of what stands at the end of a sealed journal.
    ///
    /// - Returns: False when the order has gone on meanwhile.
    private func writeSnapshot(
        at position: JournalFollower.Position, to builder: JournalBuilder
    ) throws(SharedCoreError) -> Bool {
        let (state, present) = replica.read { state in (state, self.follower.position(in: &state)) }
        guard present.journal === position.journal, present.offset == position.offset else { return false }
        do throws(SharedCoreError) {
            try state.writeSnapshot { payload throws(SharedCoreError) in try builder.append(payload) }
        } catch {
            // Large values are read from journals, and those below the floor have given their space back.
            guard error.code == .corrupt, directory.page.floor > position.journal.generation else { throw error }
            return false
        }
        return true
    }

    /// Keeps space again where a process has ended behind its compaction before it did: whatever joins next does it, so
    /// that no other program takes the space for changes of hands meanwhile (contract S10). And where a copy of the directory has
    /// the file without its space, or not at all.
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

    /// Sees to it that the journal has the space behind its records that its words tell of: a copy of the directory may have
    /// left holes there. Blocks.
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
        // As much as there is: of what is kept for others than content, any part is of use.
        let least = SpareSpace.compaction(of: replica.read { $0.snapshotByteCount })
        for size in stride(from: whole, through: least, by: -SpareSpace.stepByteCount)
        where keepSpareSpace(size, for: journal) != .full { return }
    }

    /// Whether a journal keeps its space in place of the spare file, because the compaction that has made it is not finished:
    /// before the journals in front of it are removed, a spare file would be too small.
    private func mustKeepSpace(_ journal: Journal) -> Bool {
        journal.header.hasSnapshot && journal.generation > directory.page.floor
    }

    /// Gives back what the spare file has for content that is no longer there. Where another writer has the lock, the next
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

    /// Gives back the space of the present journal that only content may use: it comes last. Waits a little for the lock.
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
            usleep(1_000)
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

    /// Makes sure that a compaction has space after a record, before it is written; otherwise a full disk could become
    /// one on which nobody can end anything any more. Under the lock.
    ///
    /// - Parameter end: Where the record ends.
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
            // A process that stands still may have it for long. It is large enough all the same, or becomes the journal of a
            // compaction: under this lock no process makes one smaller that has no holes.
            if let found = try? directory.presence(of: SpareSpace.fileName), found.byteCount >= needed,
                (try? SpareSpace.lacksSpace(found, in: directory.directory)) == false
            {
                return nil
            }
            return SharedCoreError(error)
        } catch {
            if error.isInodeMissing, case .content = claim { throw SharedCoreError(error) }
            // Stopped and slow processes keep the inodes of journals that were removed. Until one is free, the journal has
            // to have the space itself.
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

    /// Wakes the listeners of the journal before, so that they come over and set their bits in the new one. Until then
    /// writers ring for them all the same; from then on only for those who came.
    func moveListeners(_ inherited: Bells, to generation: UInt64) {
        directory.page.renewSignalInterest()
        let rung = bells.ring(inherited)
        let journal = position.journal
        if journal.generation == generation { journal.clearInheritedInterest(in: rung) }
    }
}

/// How long a writer waits for the journal's lock before it takes its holder for frozen: as long as nothing is
/// published for a while. A wrong suspicion costs a new journal and nothing else.
struct Patience {
    /// How long nothing may be published.
    static let frozenNanoseconds: UInt64 = 100_000_000
    /// How long a writer that has told that it runs may be silent: on a busy machine its next sign comes late. With what
    /// a new journal takes, within the 250 ms of contract S15.
    static let silentNanoseconds: UInt64 = 200_000_000
    /// How long a sealed journal may be without a successor: whoever sealed it has the next one ready.
    static let sealedNanoseconds: UInt64 = 3_000_000
    /// What one try counts at most, so that a process that was stopped itself suspects nobody for that.
    private static let stepLimit: UInt64 = 20_000_000

    private var generation: UInt64 = 0
    private var word: CommitWord?
    private var ticks: UInt64 = 0
    /// Whether the last change that was seen was a sign of life.
    private var isAlive = false
    private var waited: UInt64 = 0
    private var last: BootInstant?
    private var tries = 0

    /// Begins anew.
    mutating func reset() {
        self = Patience()
    }

    /// Whether it is over, looking at the journal whose lock is not to be had.
    mutating func isOver(at journal: Journal) -> Bool {
        if Defect.endlessPatience.isPresent { return false }
        let now = SystemClock().now()
        let found = journal.word
        let ticks = journal.ticks
        if found != word || ticks != self.ticks || journal.generation != generation {
            isAlive = found == word && journal.generation == generation
            (word, self.ticks, generation, waited) = (found, ticks, journal.generation, 0)
        } else if let last {
            waited += min(last.duration(to: now).clampedNanoseconds, Self.stepLimit)
        }
        last = now
        if found.isSealed { return waited >= Self.sealedNanoseconds }
        return waited >= (isAlive ? Self.silentNanoseconds : Self.frozenNanoseconds)
    }

    /// Waits a little before the next try: at first only for other threads to run.
    mutating func pause() {
        tries += 1
        if tries < 8 {
            sched_yield()
        } else {
            usleep(tries < 32 ? 50 : 500)
        }
    }
}
