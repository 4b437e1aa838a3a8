internal import CoreAPI
internal import Platform
internal import Synchronization

/// Waits until commits of this process are on the disk. One sync serves all callers that wait when it begins.
final class DurabilityQueue: Sendable {
    private struct Waiter {
        let journal: Journal
        let tail: Int
        let continuation: CheckedContinuation<Result<Void, SharedCoreError>, Never>
    }

    private struct State {
        var waiters: [Waiter] = []
        var isServed = false
        /// The number of the journal that is on the disk with its predecessors and names.
        var preparedGeneration: UInt64 = 0
    }

    private let thread = SerialThread(name: "sc-sync")
    private let state = Mutex(State())

    /// Waits until a journal is on the disk up to an offset.
    ///
    /// - Throws: `outcomeUnknown` when the disk fails: the commit is published for all processes, and a loss of power
    ///   may undo it.
    func wait(for journal: Journal, to tail: Int, in directory: GroupDirectory) async throws(SharedCoreError) {
        if journal.durableTail >= tail { return }
        let result = await withCheckedContinuation { continuation in
            let mustServe = state.withLock { state in
                state.waiters.append(Waiter(journal: journal, tail: tail, continuation: continuation))
                defer { state.isServed = true }
                return !state.isServed
            }
            if mustServe { thread.submit { self.serve(directory) } }
        }
        try result.get()
    }

    private func serve(_ directory: GroupDirectory) {
        while true {
            let waiters = state.withLock { state in
                defer { state.waiters = [] }
                if state.waiters.isEmpty { state.isServed = false }
                return state.waiters
            }
            if waiters.isEmpty { return }
            var results: [UInt64: Result<Void, SharedCoreError>] = [:]
            for waiter in waiters where results[waiter.journal.generation] == nil {
                results[waiter.journal.generation] = synchronize(waiter.journal, in: directory)
            }
            for waiter in waiters {
                waiter.continuation.resume(returning: results[waiter.journal.generation] ?? .success(()))
            }
            // Only with a single waiter: with several, the next request arrives while the first of them is served.
            if waiters.count == 1 { awaitNext() }
        }
    }

    /// The time that the thread waits for the next request before it ends.
    private static let lookout = Duration.microseconds(50)

    /// Spins for the next request. A writer that commits without a pause makes the next request sooner than a thread
    /// could be started or woken, which would take a considerable part of the time of a sync.
    private func awaitNext() {
        let end = ContinuousClock.now.advanced(by: Self.lookout)
        while state.withLock({ $0.waiters.isEmpty }), ContinuousClock.now < end { OwnedThread.yield() }
    }

    private func synchronize(_ journal: Journal, in directory: GroupDirectory) -> Result<Void, SharedCoreError> {
        do throws(SystemCallError) {
            // The floor is above this journal: a newer snapshot, which is on the disk, contains all of its records.
            if directory.page.floor > journal.generation {
                try settleSuccessor(of: journal, in: directory)
                return .success(())
            }
            try Self.requireTrust(journal)
            let prepared = state.withLock { $0.preparedGeneration }
            let before = journal.generation > prepared ? try prepare(journal, in: directory) : []
            let tail = journal.word.tail
            if FailPoint.fails("durability.sync") {
                Self.abandon(journal, in: directory)
                throw SystemCallError("fdatasync", number: 5, at: journal.file.path)
            }
            try journal.file.synchronizeContent()
            try journal.requirePage()
            for predecessor in before { predecessor.noteSuccessorOnDisk() }
            FailPoint.hit("durability.afterSync")
            try settleSuccessor(of: journal, in: directory)
            // Another process may have seen a failed sync meanwhile. The kernel reports such a failure only once, so
            // check the journal's word.
            try Self.requireTrust(journal)
            journal.raiseDurableTail(to: tail)
            return .success(())
        } catch {
            // The sync that failed may also be that of the directory or of the floor, without which a reader of the
            // disk does not find this journal.
            if error.isFailedSync { Self.abandon(journal, in: directory) }
            return .failure(
                SharedCoreError(
                    .outcomeUnknown,
                    "The commit took effect, but the disk has not confirmed it: a loss of power may undo it.",
                    at: error.location, cause: "\(error.call): \(error.text)"))
        }
    }

    /// Throws if a sync of the journal has failed in any process.
    ///
    /// - Throws: EIO, if a process has abandoned the journal after a failed sync. The number of that process's error is
    ///   not recorded.
    private static func requireTrust(_ journal: Journal) throws(SystemCallError) {
        guard journal.word.isAbandoned, !Defect.forgottenFailure.isPresent else { return }
        throw SystemCallError("an earlier fdatasync", number: 5, at: journal.file.path)
    }

    /// Syncs a journal to the disk, or abandons it.
    private static func synchronize(_ journal: Journal, in directory: GroupDirectory) throws(SystemCallError) {
        do throws(SystemCallError) {
            try journal.file.synchronizeContent()
        } catch {
            abandon(journal, in: directory)
            throw error
        }
    }

    /// Marks a journal for all processes as no longer trusted on the disk, with its successors that have no snapshot.
    private static func abandon(_ journal: Journal, in directory: GroupDirectory) {
        if Defect.forgottenFailure.isPresent { return }
        var lost = journal
        while true {
            lost.abandon()
            // A process that creates the next journal reads this word only after it has named that journal, so each of
            // the two processes sees what the other did.
            guard lost.word.isSealed, let next = try? directory.journal(lost.generation + 1), !next.header.hasSnapshot
            else { return }
            lost = next
        }
    }

    /// Syncs the journal at the floor if it has replaced this one. A replaced journal may be removed already, and then
    /// only the journal at the floor keeps its commits on the disk.
    private func settleSuccessor(of journal: Journal, in directory: GroupDirectory) throws(SystemCallError) {
        guard directory.page.floor > journal.generation else { return }
        guard !FailPoint.fails("durability.successor"), let floor = try? directory.floorJournal() else {
            throw SystemCallError("fdatasync", number: 5, at: directory.directory.path)
        }
        try Self.requireTrust(floor)
        try Self.synchronize(floor, in: directory)
        try prepare(floor, in: directory)
    }

    /// Syncs everything that a reader of the disk needs to reach this journal: its name, the floor, and the preceding
    /// journals back to the last snapshot.
    ///
    /// - Returns: The journals before it.
    @discardableResult
    private func prepare(_ journal: Journal, in directory: GroupDirectory) throws(SystemCallError) -> [Journal] {
        var present = journal
        var predecessors: [Journal] = []
        while !present.header.hasSnapshot {
            guard let before = try Self.predecessor(of: present, in: directory) else { break }
            try Self.requireTrust(before)
            try Self.synchronize(before, in: directory)
            try Self.requireTrust(before)
            predecessors.append(before)
            present = before
        }
        try directory.directory.synchronizeNames()
        if present.header.hasSnapshot, directory.page.floor < present.generation {
            // The process that placed this journal in a compaction has ended before it raised the floor. The preceding
            // journal may not be completely on the disk, so the floor must rise to this one.
            try Self.synchronize(present, in: directory)
            directory.page.raiseFloor(to: present.generation)
        }
        try directory.page.synchronize()
        state.withLock { $0.preparedGeneration = max($0.preparedGeneration, journal.generation) }
        return predecessors
    }

    /// Returns the journal before one without a snapshot; nil if it was removed because the floor is higher.
    private static func predecessor(
        of journal: Journal, in directory: GroupDirectory
    ) throws(SystemCallError) -> Journal? {
        do throws(SharedCoreError) {
            return try directory.journal(journal.generation - 1)
        } catch {
            throw SystemCallError("openat", number: 5, at: error.location)
        }
    }
}
