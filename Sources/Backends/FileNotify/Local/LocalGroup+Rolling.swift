internal import CoreAPI
internal import Platform
internal import Replica
internal import StoreEngine

/// Continues the order in a new journal.
extension LocalGroup {
    /// Waits briefly for the holder of the lock. If the holder is frozen, seals the journal and continues the order in
    /// a new one. Blocks.
    func overtake(_ lockTimeout: inout LockTimeout) throws(SharedCoreError) {
        let journal = position.journal
        if case .sealed = try catchUp() {
            let present = position.journal
            if lockTimeout.isOver(at: present) {
                if let builder = try successorBuilder(of: present) { try makeSuccessor(of: present, with: builder) }
                lockTimeout.reset()
                return
            }
        } else if lockTimeout.isOver(at: journal) {
            // Build the next journal before the seal. If there is no space for it, this journal stays usable, and the
            // frozen writer may continue in it.
            guard let builder = try successorBuilder(of: journal) else { return lockTimeout.reset() }
            FailPoint.hit("roll.beforeSeal")
            if journal.seal(at: journal.word.tail) || journal.word.isSealed {
                FailPoint.hit("roll.afterSeal")
                try makeSuccessor(of: journal, with: builder)
            }
            lockTimeout.reset()
            return
        }
        lockTimeout.pause()
    }

    /// Creates the successor of a sealed journal. Nothing is copied, so it takes little time. If two processes do it at
    /// once, the second one finds the journal that the first has created. Blocks.
    ///
    /// If it takes the last inode, the successor contains a snapshot: no compaction could be written after it, and the
    /// preceding journals would keep their inodes.
    private func makeSuccessor(of journal: Journal, with builder: JournalBuilder) throws(SharedCoreError) {
        guard case .sealed = try catchUp() else { return }
        let position = position
        guard position.journal === journal else { return }
        try lookAtPlace()
        // Listeners set their bits before they read the commit word, so no bit is missing after the seal.
        let inherited = Defect.lostInterest.isPresent ? WakeChannels() : journal.interest
        wakeChannels.prepare(inherited)
        let hasSnapshot = builder.hasLastInode
        if hasSnapshot, try !writeSnapshot(at: position, to: builder) { return }
        let isPlaced = try builder.place(
            incarnation: journal.header.incarnation, bootID: journal.header.bootID, hasSnapshot: hasSnapshot,
            predecessorTail: position.offset, inherited: inherited, isAbandoned: journal.word.isAbandoned,
            isDurable: false)
        FailPoint.hit("roll.afterPlace")
        // The process that abandoned this journal may have found no successor yet. Then the successor must be abandoned
        // here.
        if isPlaced, journal.word.isAbandoned { try directory.journal(journal.generation + 1)?.abandon() }
        try catchUp()
        if isPlaced { moveListeners(inherited, to: journal.generation + 1) }
        if isPlaced, hasSnapshot {
            compaction.thread.submit { [self] in _ = try? finishCompaction() }
        }
        keepSpareSpace()
    }

    /// Starts building the successor of a journal that is sealed, or will be. Blocks.
    ///
    /// - Returns: Nil if another process has created it meanwhile.
    private func successorBuilder(of journal: Journal) throws(SharedCoreError) -> JournalBuilder? {
        let end = ContinuousClock.now.advanced(by: SpareSpace.makerTimeout)
        var isFinished = false
        while true {
            do throws(SystemCallError) {
                return try JournalBuilder(journal.generation + 1, in: directory)
            } catch {
                if error.isSpareInUse, ContinuousClock.now < end {
                    OwnedThread.sleep(for: .milliseconds(1))
                } else {
                    // The journals below one with a snapshot may still exist.
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

    /// Writes the snapshot of the state at the end of a sealed journal.
    ///
    /// - Returns: False if the order has continued meanwhile.
    private func writeSnapshot(
        at position: JournalFollower.Position, to builder: JournalBuilder
    ) throws(SharedCoreError) -> Bool {
        let (state, present) = replica.read { state in (state, self.follower.position(in: &state)) }
        guard present.journal === position.journal, present.offset == position.offset else { return false }
        do throws(SharedCoreError) {
            try state.writeSnapshot { payload throws(SharedCoreError) in try builder.append(payload) }
        } catch {
            // Large values are read from journals, and those below the floor have freed their space.
            guard error.code == .corrupt, directory.page.floor > position.journal.generation else { throw error }
            return false
        }
        return true
    }

    /// Wakes the listeners of the preceding journal, so that they move and set their bits in the new one. Until then
    /// writers signal for them as well; after that only for the listeners that moved.
    func moveListeners(_ inherited: WakeChannels, to generation: UInt64) {
        directory.page.renewSignalInterest()
        let signaled = wakeChannels.signal(inherited)
        let journal = position.journal
        if journal.generation == generation { journal.clearInheritedInterest(in: signaled) }
    }
}

/// The timeout after which a writer that waits for the journal's lock counts its holder as frozen: when nothing was
/// published for a while. If the holder was not frozen, the only cost is a new journal.
struct LockTimeout {
    /// The longest time without a published record.
    static let frozenNanoseconds: UInt64 = 100_000_000
    /// The longest silence of a writer that has ticked: on a busy machine its next tick may be late. Together with the
    /// time for a new journal, it is within the 250 ms of contract S15.
    static let silentNanoseconds: UInt64 = 200_000_000
    /// The longest time for which a sealed journal may have no successor: the process that sealed it has the next one
    /// ready.
    static let sealedNanoseconds: UInt64 = 3_000_000
    /// The maximum time that one try counts, so that a process that was itself stopped does not count its own stop.
    private static let stepLimit: UInt64 = 20_000_000

    private var generation: UInt64 = 0
    private var word: CommitWord?
    private var ticks: UInt64 = 0
    /// True if the last observed change was a tick.
    private var isAlive = false
    private var waited: UInt64 = 0
    private var last: BootInstant?
    private var tries = 0

    /// Restarts the timeout.
    mutating func reset() {
        self = LockTimeout()
    }

    /// Returns whether the timeout is over for a journal with a taken lock.
    mutating func isOver(at journal: Journal) -> Bool {
        if Defect.endlessTimeout.isPresent { return false }
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

    /// Pauses before the next try; at first it only yields to other threads.
    mutating func pause() {
        tries += 1
        if tries < 8 {
            OwnedThread.yield()
        } else {
            OwnedThread.sleep(for: .microseconds(tries < 32 ? 50 : 500))
        }
    }
}
