internal import CoreAPI
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
                try makeSuccessor(of: present)
                patience.reset()
                return
            }
        } else if patience.isOver(at: journal) {
            FailPoint.hit("roll.beforeSeal")
            if journal.seal(at: journal.word.tail) || journal.word.isSealed {
                FailPoint.hit("roll.afterSeal")
                try makeSuccessor(of: journal)
            }
            patience.reset()
            return
        }
        patience.pause()
    }

    /// Makes the journal in which the order goes on after a sealed one: no copy of anything, so it takes no time to
    /// speak of. Whoever comes second finds it made. Blocks.
    func makeSuccessor(of journal: Journal) throws(SharedCoreError) {
        guard case .sealed = try catchUp() else { return }
        let position = position
        guard position.journal === journal else { return }
        try lookAtPlace()
        // Listeners set their bits before they look at the word, so after the seal none is missing.
        let inherited = Defect.lostInterest.isPresent ? [] : journal.interest
        bells.prepare(inherited)
        let builder = try JournalBuilder(journal.generation + 1, in: directory)
        let isPlaced = try builder.place(
            incarnation: journal.header.incarnation, bootID: journal.header.bootID, hasSnapshot: false,
            predecessorTail: position.offset, inherited: inherited, isAbandoned: journal.word.isAbandoned,
            isDurable: false)
        FailPoint.hit("roll.afterPlace")
        // Abandoned by a process that found no successor yet.
        if isPlaced, journal.word.isAbandoned { try directory.journal(journal.generation + 1)?.abandon() }
        try catchUp()
        if isPlaced { moveListeners(inherited, to: journal.generation + 1) }
        keepSpareSpace()
    }

    /// Sees to it that there is space for more journals; if there is not so much, for a compaction.
    func keepSpareSpace() {
        if isReadOnly { return }
        let (snapshot, position) = replica.read { state in
            (Self.snapshotByteCount(of: state), self.follower.position(in: &state))
        }
        var sizes = [SpareSpace.rollAndCompaction(of: snapshot), SpareSpace.compaction(of: snapshot)]
        // No snapshot is longer than the journal that begins with the last one, whatever was reckoned.
        if position.journal.header.hasSnapshot { sizes.append(position.offset + Journal.reserveByteCount) }
        for size in sizes where (try? SpareSpace.keep(size, in: directory.directory)) != nil { return }
    }

    /// Makes sure that a compaction has space, also when so many bytes are added to what the store holds; otherwise a
    /// full disk could become one on which nobody can end anything any more.
    ///
    /// - Throws: `storageFull`.
    func requireSpareSpace(for byteCount: Int) throws(SharedCoreError) {
        let snapshot = replica.read { state in Self.snapshotByteCount(of: state) }
        try SharedCoreError.wrapping { () throws(SystemCallError) in
            try SpareSpace.keep(SpareSpace.rollAndCompaction(of: snapshot + byteCount), in: directory.directory)
        }
    }

    /// About how long a snapshot is, rather more than less. What is in it beside the entries fits in what a journal has
    /// at least.
    static func snapshotByteCount(of state: StoreState) -> Int {
        state.byteCount + state.byteCount / 16 + 96 * (state.entryCount + state.sessions.count)
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
