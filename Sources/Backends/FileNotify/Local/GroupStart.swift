internal import CoreAPI
internal import Platform
internal import Replica
internal import StoreEngine

/// Finds the journal from which a group is to be read in this run of the machine. Makes the first one of a new group,
/// and begins a new incarnation when the machine was started anew.
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

    /// Returns the records with which the next participant would begin, for a reader, which begins nothing: those of an
    /// earlier run of the machine, or those that are whole where the disk has lost something. nil where the group is
    /// read as it is.
    ///
    /// - Parameter refusal: The reason why the group could not be read as it is.
    /// - Throws: `unavailable` where no participant has ever opened the group, otherwise the error that the participant
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

    /// Returns the records of an earlier run of the machine; nil where the present one has begun.
    ///
    /// - Throws: `unavailable` where no participant has ever opened the group.
    func formerRun() throws(SharedCoreError) -> SurvivingRecords? {
        guard let journal = try floorJournal() else { throw .unopened(directory.directory.path) }
        guard journal.header.bootID != bootID else { return nil }
        try requireEnd(of: journal.header.bootID)
        do throws(SharedCoreError) {
            let records = try survivingState(from: journal)
            try requireAllOnDisk(records)
            return records
        } catch {
            // Another process may have begun the present run meanwhile, and have removed the files that were read here.
            if try floorJournal()?.header.bootID == bootID { return nil }
            throw error
        }
    }

    /// Refuses to begin a new run of the machine in a group that participants of another run have open: a lock does not
    /// outlive the machine's run, so they run now, with another boot id.
    ///
    /// - Throws: `incompatible`.
    private func requireEnd(of other: BootID) throws(SharedCoreError) {
        guard try isOpen() else { return }
        // Another process may have begun this run meanwhile, and hold a byte since then.
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
            // Without power, the floor may have reached the disk and the journal not, or the other way round.
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
            // Another process may have made the group since journal 1 was looked up.
            if generations.contains(1) { return directory.page.raiseFloor(to: 1) }
            // The file `sessions` may be older than the journals, as one that was brought back alone.
            if !generations.isEmpty { return try recoverFloor() }
            let state = StoreState(limits: options.limits, historyByteCount: 0)
            _ = try place(state, as: 1, incarnation: 1)
            let whole = SpareSpace.whole(for: state.snapshotByteCount)
            // If the disk has that much, the space for the first content too: the content then need not wait for a
            // process that is stopped with the file.
            if (try? SpareSpace.keep(whole + Journal.growthByteCount, in: directory.directory)) == nil {
                _ = try? SpareSpace.keep(whole, in: directory.directory)
            }
        }
        directory.page.raiseFloor(to: 1)
    }

    /// Finds the floor again from the journals, unless another process does so.
    private func recoverFloor() throws(SharedCoreError) {
        guard directory.page.floor == 0 else { return }
        FailPoint.hit("first.beforeRecovery")
        do throws(SharedCoreError) {
            directory.page.raiseFloor(to: try FloorRecovery(directory: directory.directory).floor())
        } catch {
            // One that was earlier has the journals open since then.
            guard directory.page.floor > 0 else { throw error }
        }
    }

    /// Begins a new incarnation after a restart of the machine. The records that were published and reached the disk
    /// count, up to the end of the chain of their checksums; all processes of the old run are gone; and the revisions
    /// begin above all that could have been handed out. Several processes may do this at once: the name of the new
    /// journal belongs to the first.
    ///
    /// - Parameter number: The floor before its journal was looked up. When it is higher after the journals were
    ///   listed, other processes of the new run have gone on from there, and the list may hold their journals: then
    ///   nothing is done here. Otherwise each of their journals has a number that this one would need as well.
    private func restart(after floor: Journal, atFloor number: UInt64) throws(SharedCoreError) {
        let highest = try directory.generations().last ?? floor.generation
        guard directory.page.floor == number else { return }
        if highest > floor.generation, let journal = try directory.survivingJournal(highest),
            journal.header.bootID == bootID, journal.header.hasSnapshot
        {
            // Another process has done it and was ended before raising the floor.
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
        // Not below the floor: without power, it may have reached the disk and its journal not.
        _ = try beginIncarnation(
            records.incarnation + 1, of: records.state, after: records, as: max(highest + 1, number))
    }

    /// Refuses to go on with less than the disk had: the loss of power takes nothing of that, but damage does, and a
    /// copy of only some of the files.
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

    /// Ends the journal behind its records, and continues with a given content in a new incarnation.
    ///
    /// Nothing is sealed before the new journal is complete but for its name, so an error until then changes nothing.
    ///
    /// - Parameters:
    ///   - isSharedSeal: Whether a seal that another process has set since counts as this one's.
    ///   - isReplacement: Whether the content is another one. Then the space that is kept for a full disk is not used,
    ///     and grows to the size that the content needs before anything else changes: it was measured for the content
    ///     before.
    /// - Returns: False when another process was first.
    /// - Throws: `storageFull`.
    func beginIncarnation(
        _ incarnation: UInt64, of state: StoreState, after records: SurvivingRecords, as generation: UInt64,
        isSharedSeal: Bool = false, isReplacement: Bool = false
    ) throws(SharedCoreError) -> Bool {
        let builder: JournalBuilder
        do throws(SharedCoreError) {
            builder = try self.builder(of: state, as: generation, usesSpareSpace: !isReplacement)
        } catch {
            // The process that was first has the space.
            guard error.code == .storageFull, records.position.journal.word != records.word else { throw error }
            return false
        }
        let whole = SpareSpace.whole(for: state.snapshotByteCount)
        if isReplacement {
            try SharedCoreError.wrapping { () throws(SystemCallError) in
                _ = try SpareSpace.keep(whole, in: directory.directory, patience: SpareSpace.makerPatience)
            }
        }
        try builder.synchronize()
        FailPoint.hit("incarnation.beforeSeal")
        // Compared with the word from before the records were read: one that has changed since is that of a living
        // writer, whose commits are not written over, or of another process that does the same.
        guard records.seal() || isSharedSeal && records.position.journal.word.isSealed else { return false }
        FailPoint.hit("incarnation.afterSeal")
        guard try place(builder, incarnation: incarnation) else { return false }
        directory.removeObsolete()
        // The process that joins next asks for as much as there is.
        _ = try? SpareSpace.keep(whole, in: directory.directory)
        return true
    }

    /// Begins a new incarnation of a group whose last process died after the disk had lost something of it, with every
    /// record that is whole: all that was confirmed is among them. Nothing of it counts before it is on the disk.
    ///
    /// - Parameter damage: The reason why the group could not be read.
    /// - Throws: `damage` when there is no sign of a disk that failed; `unavailable` when another process has the group
    ///   open: its memory has the records that the files lack, and it writes them anew.
    func recover(from damage: SharedCoreError) throws(SharedCoreError) {
        guard directory.access != .readOnly else { throw damage }
        var (records, highest) = try abandonedRecords(insteadOf: damage)
        records.state.apply(records.state.restarting(in: bootID, at: options.clock.now()))
        // A process that has joined before the records were read, and after the check above.
        guard try !isOpen() else { throw damage }
        // Another process may do the same, and has the same state; one that has written meanwhile wins.
        _ = try beginIncarnation(
            records.incarnation + 1, of: records.state, after: records, as: highest + 1, isSharedSeal: true)
    }

    /// Returns every record that is whole of a group whose last process died after the disk had lost something of it,
    /// and the number of the newest journal, which was listed before them.
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
        // A later snapshot has the content of the earlier journals, and may have come to the disk in their place.
        for journal in journals.reversed() where journal.header.hasSnapshot && journal.generation >= floor {
            let records: SurvivingRecords
            do throws(SharedCoreError) {
                records = try survivingState(from: journal)
            } catch {
                guard error.code == .corrupt, journal.generation > floor else { throw error }
                continue
            }
            let last = records.position.journal
            // A journal that was removed is no loss of a sync.
            let isNextPresent = try directory.generations().contains(last.generation + 1)
            guard !last.isSucceeded || isNextPresent else { throw damage }
            return (records, highest)
        }
        throw damage
    }

    /// Returns the records that the journals prove from one with a snapshot on.
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

    /// Writes a state to a journal that has no name yet. Waits a little for another process that has the spare file.
    private func builder(
        of state: StoreState, as generation: UInt64, usesSpareSpace: Bool
    ) throws(SharedCoreError) -> JournalBuilder {
        let end = ContinuousClock.now.advanced(by: SpareSpace.makerPatience)
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

    /// Gives a journal its name, and makes it the one from which the group is read.
    private func place(_ builder: JournalBuilder, incarnation: UInt64) throws(SharedCoreError) -> Bool {
        guard
            try builder.place(
                incarnation: incarnation, bootID: bootID, hasSnapshot: true, predecessorTail: nil, inherited: Bells(),
                isDurable: true)
        else { return false }
        // With any durability: if this one could be lost, the next run of the machine would give out the same
        // revisions once more.
        try builder.settle()
        return true
    }
}
