internal import CoreAPI
internal import Platform
internal import Replica
internal import StoreEngine
internal import Synchronization

/// Ends the group for this process when its files are removed, replaced or cut: a process that joins later would begin
/// a second group in their place, or read another history.
extension LocalGroup {
    /// Refuses to go on with files that are not where the group was opened, or not whole. Checks once in a tick of the
    /// clock, which is some milliseconds.
    @inline(__always)
    func requirePlace() throws(SharedCoreError) {
        let tick = SystemClock.tick
        guard place.tick.load(ordering: .relaxed) != tick || place.isLost.load(ordering: .relaxed) else { return }
        place.tick.store(tick, ordering: .relaxed)
        try lookAtPlace()
    }

    /// The same, with a check now.
    func lookAtPlace() throws(SharedCoreError) {
        if let loss = place.loss { throw loss }
        if let error = placeError() { throw lose(with: error) }
    }

    /// Ends the group for this process, for good.
    ///
    /// - Returns: The error of all calls from now on.
    func lose(with error: SharedCoreError) -> SharedCoreError {
        if place.lose(with: error) { replica.fail(with: error) }
        return place.loss ?? error
    }

    /// Returns the error of the files that the names lead to; nil when they are intact. A name that cannot be checked
    /// now counts as right: that is another fault.
    private func placeError() -> SharedCoreError? {
        do throws(SystemCallError) {
            let path = directory.directory.path
            guard let sessions = try directory.presence(of: GroupPage.fileName), sessions.identity == directory.identity
            else { return .lost(path) }
            if sessions.byteCount < MappedPage.byteCount || directory.page.isLost { return .lost(path) }
            let position = position
            let journal = position.journal
            // Before its page is touched, which may be gone.
            let status = try journal.file.presence()
            if status.byteCount < position.offset || journal.isPageLost { return .cut(journal.file.path) }
            if journal.isWrittenOver || journal.isHeaderChanged { return .writtenOver(journal.file.path) }
            if let damage = directory.page.damage(reading: journal) { return damage }
            let named = try directory.presence(of: GroupDirectory.journalName(journal.generation))
            // One that was sealed may be removed: the order goes on in another.
            return named?.identity == status.identity || journal.word.isSealed ? nil : .lost(path)
        } catch {
            return nil
        }
    }

    /// Checks a fault that a process which only waits does not meet: whether the journal still ends with the record
    /// that this process has read last.
    func lookAtJournal() {
        guard place.loss == nil, let damage = try? damage(of: position.journal) else { return }
        _ = lose(with: damage)
    }

    /// Returns the error of a journal that was removed, cut, restored or written over since this process has read it.
    /// If its lock is held, the group is ended when the lock is given back.
    func damage(of journal: Journal) throws(SharedCoreError) -> SharedCoreError? {
        // Before the file's size, which another thread of this process may make larger meanwhile.
        let position = position
        guard position.journal === journal else { return nil }
        let status = try SharedCoreError.wrapping { () throws(SystemCallError) in try journal.file.presence() }
        if status.byteCount < position.offset { return .cut(journal.file.path) }
        // Before the word, so that an unsealed one says that nothing was punched out of the file when this was read.
        let isRestored = !isLast(position)
        let word = journal.word
        if journal.isWrittenOver { return .writtenOver(journal.file.path) }
        if word.tail < position.offset { return .cut(journal.file.path) }
        // The disk may have dropped a part of an abandoned journal that this process still has.
        if isRestored, !word.isSealed, !word.isAbandoned { return .writtenOver(journal.file.path) }
        return status.isRemoved && !word.isSealed ? .lost(directory.directory.path) : nil
    }

    /// Returns whether the last frame before a place still is the one that this process knows. One that cannot be read
    /// now counts as such: that is another fault.
    private func isLast(_ position: JournalFollower.Position) -> Bool {
        guard let offset = position.chainOffset, let found = try? position.journal.file.readWord(at: offset) else {
            return true
        }
        return found == position.chain.value
    }
}

/// The result of the checks whether the group's files are where it was opened, and whole.
final class PlaceCheck: Sendable {
    /// The tick of the clock in which the files were checked last.
    let tick = Atomic<UInt64>(0)
    /// Whether they are not: the group is lost for this process, even if files appear there later. Only with ``loss``.
    let isLost = Atomic(false)
    private let error = Mutex<SharedCoreError?>(nil)

    /// The error that all calls end with since the group is lost; nil while it is not.
    var loss: SharedCoreError? {
        isLost.load(ordering: .acquiring) ? error.withLock { $0 } : nil
    }

    /// Notes that the group is lost.
    ///
    /// - Returns: Whether that was not known; otherwise the first error stays.
    func lose(with error: SharedCoreError) -> Bool {
        self.error.withLock { known in
            guard known == nil else { return false }
            known = error
            isLost.store(true, ordering: .releasing)
            return true
        }
    }
}
