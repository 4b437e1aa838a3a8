internal import CoreAPI
internal import Platform
internal import Replica
internal import StoreEngine

/// Finds the journal from which a group is to be read in this boot of the machine. Creates the first one of a new
/// group, and begins a new incarnation after a restart of the machine.
struct GroupStart {
    let directory: GroupDirectory
    let options: FileGroupOptions

    private var bootID: BootID { options.clock.bootID }

    func journal() throws(SharedCoreError) -> Journal {
        if directory.access == .readOnly {
            guard let journal = try directory.floorJournal() else { throw .unopened(directory.directory.path) }
            guard journal.header.bootID == bootID else {
                try requireEnd(of: journal.header.bootID)
                throw .unopened(directory.directory.path)
            }
            return journal
        }
        while true {
            let floor = directory.page.floor
            guard let journal = try floorJournal() else {
                try makeFirst()
                continue
            }
            if journal.header.bootID == bootID || Defect.ignoredBoot.isPresent { return journal }
            try requireEnd(of: journal.header.bootID)
            FailPoint.hit("restart.afterFloor")
            try restart(after: journal, atFloor: floor)
        }
    }

    /// Returns the records with which the next participant would begin, for a reader, which writes nothing: those of an
    /// earlier boot of the machine, or the whole ones after a loss of the disk. Returns nil if the group can be read as
    /// it is.
    ///
    /// - Parameter refusal: The reason why the group could not be read as it is.
    /// - Throws: `unavailable` if no participant has ever opened the group, otherwise the error that the participant
    ///   would get.
    func records(insteadOf refusal: SharedCoreError) throws(SharedCoreError) -> SurvivingRecords? {
        let damage: SharedCoreError
        do throws(SharedCoreError) {
            if let records = try formerRun() { return records }
            guard refusal.code == .corrupt else { return nil }
            damage = refusal
        } catch {
            damage = error
        }
        return try abandonedRecords(insteadOf: damage).0
    }

    /// Returns the records of an earlier boot of the machine; nil if a process has begun an incarnation in the present
    /// one.
    ///
    /// - Throws: `unavailable` if no participant has ever opened the group.
    func formerRun() throws(SharedCoreError) -> SurvivingRecords? {
        guard let journal = try floorJournal() else { throw .unopened(directory.directory.path) }
        guard journal.header.bootID != bootID else { return nil }
        try requireEnd(of: journal.header.bootID)
        do throws(SharedCoreError) {
            let records = try survivingState(from: journal)
            try requireAllOnDisk(records)
            return records
        } catch {
            // Another process may have begun the incarnation meanwhile, and removed the files that were read here.
            if try floorJournal()?.header.bootID == bootID { return nil }
            throw error
        }
    }

    /// Refuses to begin a new incarnation of a group that participants with another boot id have open: locks do not
    /// survive a restart, so these participants run now.
    ///
    /// - Throws: `incompatible`.
    private func requireEnd(of other: BootID) throws(SharedCoreError) {
        guard try isOpen() else { return }
        // Another process may have begun the incarnation meanwhile, and hold a byte since then.
        if try floorJournal()?.header.bootID == bootID { return }
        throw .otherRun(other, own: bootID, at: directory.directory.path)
    }

    /// Returns whether any participant has the group open.
    func isOpen() throws(SharedCoreError) -> Bool {
        try SharedCoreError.wrapping { () throws(SystemCallError) in
            try OpenFile(GroupPage.fileName, in: directory.directory, .read).lockedByte(in: SessionLocks.bytes) != nil
        }
    }

    private func floorJournal() throws(SharedCoreError) -> Journal? {
        do throws(SharedCoreError) {
            return try directory.floorJournal()
        } catch {
            // After a loss of power, the disk may have the floor without its journal, or the journal without the floor.
            guard error.code == .corrupt, JournalHeader.numbers.contains(directory.page.floor),
                let newest = try newestWithSnapshot(), newest.header.bootID != bootID
            else {
                throw error
            }
            return newest
        }
    }

    private func newestWithSnapshot() throws(SharedCoreError) -> Journal? {
        for generation in try directory.generations().reversed() {
            if let journal = try directory.survivingJournal(generation), journal.header.hasSnapshot { return journal }
        }
        return nil
    }

    private func makeFirst() throws(SharedCoreError) {
        if try directory.journal(1) == nil {
            FailPoint.hit("first.beforeList")
            let generations = try directory.generations()
            // Another process may have created the group since journal 1 was looked up.
            if generations.contains(1) { return directory.page.raiseFloor(to: 1) }
            // The file `sessions` may be older than the journals, for example if only that file was restored.
            if !generations.isEmpty { return try recoverFloor() }
            let state = StoreState(limits: options.limits, historyByteCount: 0)
            _ = try place(state, as: 1, incarnation: 1)
            let whole = SpareSpace.whole(for: state.snapshotByteCount)
            // If the disk has the space, also reserve that of the first content. Otherwise the first commit would have
            // to extend the spare file, and wait if a process is stopped while it has that file locked.
            if (try? SpareSpace.keep(whole + Journal.growthByteCount, in: directory.directory)) == nil {
                _ = try? SpareSpace.keep(whole, in: directory.directory)
            }
        }
        directory.page.raiseFloor(to: 1)
    }

    /// Finds the floor from the journals, unless another process has done so.
    private func recoverFloor() throws(SharedCoreError) {
        guard directory.page.floor == 0 else { return }
        FailPoint.hit("first.beforeRecovery")
        do throws(SharedCoreError) {
            directory.page.raiseFloor(to: try FloorRecovery(directory: directory.directory).floor())
        } catch {
            // If the floor is still 0, an earlier process has the journals open, so the group cannot be recovered.
            guard directory.page.floor > 0 else { throw error }
        }
    }

    /// Begins a new incarnation after a restart of the machine. The records that were published and reached the disk
    /// count, up to the end of the chain of their checksums. All processes of the old boot have ended. The revisions
    /// begin above all that could have been handed out. Several processes may do this at once: the first gets the name
    /// of the new journal.
    ///
    /// - Parameter number: The floor before its journal was looked up. If it is higher after the journals were listed,
    ///   other processes of the new boot have continued from there, and the list may contain their journals: then
    ///   nothing is done here. Otherwise each of their journals has a number that this one would need as well.
    private func restart(after floor: Journal, atFloor number: UInt64) throws(SharedCoreError) {
        let highest = try directory.generations().last ?? floor.generation
        guard directory.page.floor == number else { return }
        if highest > floor.generation, let journal = try directory.survivingJournal(highest),
            journal.header.bootID == bootID, journal.header.hasSnapshot
        {
            // Another process has restarted the group and was ended before it raised the floor.
            directory.page.raiseFloor(to: highest)
            try SharedCoreError.wrapping { () throws(SystemCallError) in try directory.page.synchronize() }
            return
        }
        var records = try survivingState(from: floor)
        try requireAllOnDisk(records)
        var effect = records.state.restarting(in: bootID, at: options.clock.now())
        if Defect.repeatedRevisions.isPresent {
            effect = Effect(
                revision: Revision(rawValue: records.state.revision.rawValue + 1), time: effect.time, body: effect.body)
        }
        records.state.apply(effect)
        // The number is not below the floor: at a loss of power, the floor may have reached the disk without its
        // journal.
        _ = try beginIncarnation(
            records.incarnation + 1, of: records.state, after: records, as: max(highest + 1, number))
    }

    /// Refuses to continue with records that are fewer than those known to be on the disk. A loss of power loses none
    /// of the latter. Damage does, and so does a copy of only some of the group's files.
    ///
    /// - Throws: `corrupt`.
    private func requireAllOnDisk(_ records: SurvivingRecords) throws(SharedCoreError) {
        let last = records.position.journal
        let isCut = records.position.offset < last.durableTail
        guard isCut || last.isSucceededOnDisk, directory.page.floor <= last.generation else { return }
        let isNextPresent = try directory.generations().contains(last.generation + 1)
        throw isCut || isNextPresent
            ? JournalFollower.damaged(last, at: records.position.offset)
            : .lostSuccessor(of: last, in: directory.directory.path)
    }

    /// Seals the journal at the end of its records, and continues with a given content in a new incarnation.
    ///
    /// Nothing is sealed before the new journal is complete except for its name, so an earlier error changes nothing.
    ///
    /// - Parameters:
    ///   - isSharedSeal: Whether a seal that another process has set since counts as this one's.
    ///   - isReplacement: Whether the content is replaced. Then the space reserved for a full disk, which was measured
    ///     for the former content, is not used, and grows to the size for the new content before anything else changes.
    /// - Returns: False if another process was first.
    /// - Throws: `storageFull`.
    func beginIncarnation(
        _ incarnation: UInt64, of state: StoreState, after records: SurvivingRecords, as generation: UInt64,
        isSharedSeal: Bool = false, isReplacement: Bool = false
    ) throws(SharedCoreError) -> Bool {
        let builder: JournalBuilder
        do throws(SharedCoreError) {
            builder = try self.builder(of: state, as: generation, usesSpareSpace: !isReplacement)
        } catch {
            // Another process that does the same may have been first, and have taken the space.
            guard error.code == .storageFull, records.position.journal.word != records.word else { throw error }
            return false
        }
        let whole = SpareSpace.whole(for: state.snapshotByteCount)
        if isReplacement {
            try SharedCoreError.wrapping { () throws(SystemCallError) in
                _ = try SpareSpace.keep(whole, in: directory.directory, lockTimeout: SpareSpace.makerTimeout)
            }
        }
        try builder.synchronize()
        FailPoint.hit("incarnation.beforeSeal")
        // `seal()` fails if the commit word has changed since the records were read: a running writer has then
        // published commits, which must not be overwritten, or another process does the same as this one.
        guard records.seal() || isSharedSeal && records.position.journal.word.isSealed else { return false }
        FailPoint.hit("incarnation.afterSeal")
        guard try place(builder, incarnation: incarnation) else { return false }
        directory.removeObsolete()
        // An error is ignored: the next process that joins reserves as much as the disk has.
        _ = try? SpareSpace.keep(whole, in: directory.directory)
        return true
    }

    /// Begins a new incarnation with every whole record of a group, after the disk has lost a part of it and its last
    /// process has ended. All confirmed commits are among these records. The floor rises to the new incarnation only
    /// when the incarnation is on the disk.
    ///
    /// - Parameter damage: The reason why the group could not be read.
    /// - Throws: `damage` if there is no sign of a failed disk; `unavailable` if another process has the group open:
    ///   its memory has the records that the files lack, and it writes them anew.
    func recover(from damage: SharedCoreError) throws(SharedCoreError) {
        guard directory.access != .readOnly else { throw damage }
        var (records, highest) = try abandonedRecords(insteadOf: damage)
        records.state.apply(records.state.restarting(in: bootID, at: options.clock.now()))
        // A process may have joined after the check above and before the records were read.
        guard try !isOpen() else { throw damage }
        // Another process may do the same with the same state; a process that has written meanwhile wins.
        _ = try beginIncarnation(
            records.incarnation + 1, of: records.state, after: records, as: highest + 1, isSharedSeal: true)
    }

    /// Returns every whole record of a group after the disk has lost a part of it and its last process has ended, and
    /// the number of the newest journal, which was listed before them.
    private func abandonedRecords(
        insteadOf damage: SharedCoreError
    ) throws(SharedCoreError) -> (SurvivingRecords, highest: UInt64) {
        guard damage.code == .corrupt else { throw damage }
        let floor = directory.page.floor
        var journals: [Journal] = []
        for generation in try directory.generations() {
            if let journal = try directory.survivingJournal(generation) { journals.append(journal) }
        }
        guard let highest = journals.last?.generation, journals.contains(where: \.isPlausiblyAbandoned) else {
            throw damage
        }
        guard try !isOpen() else {
            throw SharedCoreError(
                .unavailable,
                "The disk has lost some of the group's files. A process that has the group open writes them anew.",
                at: directory.directory.path, cause: damage.message)
        }
        // Begin with the newest snapshot. It has the content of the earlier journals, and may be on the disk although
        // they are not.
        for journal in journals.reversed() where journal.header.hasSnapshot && journal.generation >= floor {
            let records: SurvivingRecords
            do throws(SharedCoreError) {
                records = try survivingState(from: journal)
            } catch {
                guard error.code == .corrupt, journal.generation > floor else { throw error }
                continue
            }
            let last = records.position.journal
            // A removed journal cannot be explained by a failed sync.
            let isNextPresent = try directory.generations().contains(last.generation + 1)
            guard !last.isSucceeded || isNextPresent else { throw damage }
            return (records, highest)
        }
        throw damage
    }

    /// Returns the records that the journals prove, starting with one that has a snapshot.
    func survivingState(from floor: Journal) throws(SharedCoreError) -> SurvivingRecords {
        try SurvivingRecords(from: floor, limits: options.limits) { generation throws(SharedCoreError) in
            try directory.survivingJournal(generation)
        }
    }

    /// Writes a state as a journal of its own.
    func place(
        _ state: StoreState, as generation: UInt64, incarnation: UInt64
    ) throws(SharedCoreError) -> Bool {
        try place(builder(of: state, as: generation, usesSpareSpace: true), incarnation: incarnation)
    }

    /// Writes a state to a journal that has no name yet. Waits briefly for another process that has the spare file.
    private func builder(
        of state: StoreState, as generation: UInt64, usesSpareSpace: Bool
    ) throws(SharedCoreError) -> JournalBuilder {
        let end = ContinuousClock.now.advanced(by: SpareSpace.makerTimeout)
        while true {
            let builder: JournalBuilder
            do throws(SystemCallError) {
                builder = try JournalBuilder(
                    generation, in: directory, snapshotByteCount: state.snapshotByteCount,
                    usesSpareSpace: usesSpareSpace)
            } catch {
                guard error.isSpareInUse, ContinuousClock.now < end else { throw SharedCoreError(error) }
                OwnedThread.sleep(for: .milliseconds(1))
                continue
            }
            try state.writeSnapshot { payload throws(SharedCoreError) in try builder.append(payload) }
            return builder
        }
    }

    /// Gives a journal its name, and raises the floor to it.
    private func place(_ builder: JournalBuilder, incarnation: UInt64) throws(SharedCoreError) -> Bool {
        guard
            try builder.place(
                incarnation: incarnation, bootID: bootID, hasSnapshot: true, predecessorTail: nil,
                inherited: WakeChannels(),
                isDurable: true)
        else { return false }
        // Sync the journal with any durability: if it were lost, the next boot of the machine would assign the same
        // revisions again.
        try builder.settle()
        return true
    }
}
