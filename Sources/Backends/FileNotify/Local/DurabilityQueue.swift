internal import CoreAPI
internal import Glibc
internal import Platform
internal import Synchronization

/// Those of this process who wait until a commit is on the disk: one sync serves all that wait when it begins.
final class DurabilityQueue: Sendable {
    private struct Waiter {
        let journal: Journal
        let tail: Int
        let continuation: CheckedContinuation<Result<Void, SharedCoreError>, Never>
    }

    private struct State {
        var waiters: [Waiter] = []
        var isServed = false
        /// The journal whose predecessors and names are on the disk as well.
        var preparedGeneration: UInt64 = 0
        /// The journal of which the disk has lost something. Its later syncs prove nothing.
        var lostGeneration: UInt64 = 0
    }

    private let thread = SerialThread(name: "sc-sync")
    private let state = Mutex(State())

    /// Returns when a journal is on the disk up to a place.
    ///
    /// - Throws: `outcomeUnknown` when the disk fails: the commit stands for all processes, and may be lost without power.
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
            // Of several some come back while the first of them is served.
            if waiters.count == 1 { awaitNext() }
        }
    }

    /// How long the thread looks for the next one before it ends.
    private static let lookout = Duration.microseconds(50)

    /// Whoever writes one commit after another is back before a thread could be started or woken, which takes a good part
    /// of what a sync takes.
    private func awaitNext() {
        let end = ContinuousClock.now.advanced(by: Self.lookout)
        while state.withLock({ $0.waiters.isEmpty }), ContinuousClock.now < end { sched_yield() }
    }

    private func synchronize(_ journal: Journal, in directory: GroupDirectory) -> Result<Void, SharedCoreError> {
        let (prepared, lost) = state.withLock { ($0.preparedGeneration, $0.lostGeneration) }
        do throws(SystemCallError) {
            guard journal.generation != lost else {
                throw SystemCallError("fdatasync", number: 5, at: journal.file.path)
            }
            if journal.generation > prepared { try prepare(journal, in: directory) }
            let tail = journal.word.tail
            if FailPoint.fails("durability.sync") {
                throw SystemCallError("fdatasync", number: 5, at: journal.file.path)
            }
            try journal.file.synchronizeContent()
            try journal.requirePage()
            FailPoint.hit("durability.afterSync")
            try settleSuccessor(of: journal, in: directory)
            journal.raiseDurableTail(to: tail)
            return .success(())
        } catch {
            state.withLock { $0.lostGeneration = journal.generation }
            return .failure(
                SharedCoreError(
                    .outcomeUnknown,
                    "The commit stands for all processes, but the disk did not confirm it: it may be lost without power.",
                    at: error.location, cause: "\(error.call): \(error.text)"))
        }
    }

    /// A journal that was replaced meanwhile may be removed already, and then the disk keeps its commits only with the
    /// journal that the group is read from now.
    private func settleSuccessor(of journal: Journal, in directory: GroupDirectory) throws(SystemCallError) {
        guard directory.page.floor > journal.generation else { return }
        guard !FailPoint.fails("durability.successor"), let floor = try? directory.floorJournal() else {
            throw SystemCallError("fdatasync", number: 5, at: directory.directory.path)
        }
        try floor.file.synchronizeContent()
        try prepare(floor, in: directory)
    }

    /// Sees to it that whoever reads the group from the disk gets to this journal: its name, the floor, and those before
    /// it back to the snapshot that it goes on from.
    private func prepare(_ journal: Journal, in directory: GroupDirectory) throws(SystemCallError) {
        var present = journal
        while !present.header.hasSnapshot {
            guard let before = try? directory.journal(present.generation - 1) else { break }
            try before.file.synchronizeContent()
            present = before
        }
        try directory.directory.synchronizeNames()
        if present.header.hasSnapshot, directory.page.floor < present.generation {
            // Placed by a compaction that has come no further. Its predecessor need not be on the disk to the end, so the
            // group must be read from here.
            try present.file.synchronizeContent()
            directory.page.raiseFloor(to: present.generation)
        }
        try directory.page.synchronize()
        state.withLock { $0.preparedGeneration = max($0.preparedGeneration, journal.generation) }
    }
}
