internal import CoreAPI
internal import Platform
internal import Replica
internal import StoreEngine
internal import Synchronization

/// Ends the group for this process when its files are removed, replaced or cut: a process that joins later would start
/// a second group there, or read another history.
extension LocalGroup {
    /// Throws if the group's files are no longer where it was opened, or are damaged. Checks once per tick of the
    /// clock, which is some milliseconds.
    @inline(__always)
    func requirePlace() throws(SharedCoreError) {
        let tick = SystemClock.tick
        guard place.tick.load(ordering: .relaxed) != tick || place.isLost.load(ordering: .relaxed) else { return }
        place.tick.store(tick, ordering: .relaxed)
        try lookAtPlace()
    }

    /// Throws in the same cases, and always checks.
    func lookAtPlace() throws(SharedCoreError) {
        if let loss = place.loss { throw loss }
        if let error = placeError() { throw lose(with: error) }
    }

    /// Ends the group for this process permanently.
    ///
    /// - Returns: The error of all calls from now on.
    func lose(with error: SharedCoreError) -> SharedCoreError {
        if place.lose(with: error) { replica.fail(with: error) }
        return place.loss ?? error
    }

    /// Returns the error of the files found by their names; nil if they are intact. A file that cannot be checked now
    /// counts as intact, because that error says nothing about the group.
    private func placeError() -> SharedCoreError? {
        do throws(SystemCallError) {
            let path = directory.directory.path
            guard let sessions = try directory.presence(of: GroupPage.fileName), sessions.identity == directory.identity
            else { return .lost(path) }
            if sessions.byteCount < MappedPage.byteCount || directory.page.isLost { return .lost(path) }
            let position = position
            let journal = position.journal
            // Check the file before its page is read: the page is invalid if the file was cut.
            let status = try journal.file.presence()
            if status.byteCount < position.offset || journal.isPageLost { return .cut(journal.file.path) }
            if journal.isWrittenOver || journal.isHeaderChanged { return .writtenOver(journal.file.path) }
            if let damage = directory.page.damage(reading: journal) { return damage }
            let named = try directory.presence(of: GroupDirectory.journalName(journal.generation))
            // A sealed journal may be removed: the order continues in another one.
            return named?.identity == status.identity || journal.word.isSealed ? nil : .lost(path)
        } catch {
            return nil
        }
    }

    /// Checks for a fault that a merely waiting process would not notice: whether the journal still ends with the
    /// record that this process has read last.
    func lookAtJournal() {
        guard place.loss == nil, let damage = try? damage(of: position.journal) else { return }
        _ = lose(with: damage)
    }

    /// Returns the error of a journal that was removed, cut, restored or written over since this process has read it.
    /// If its lock is held, the group ends when the lock is released.
    func damage(of journal: Journal) throws(SharedCoreError) -> SharedCoreError? {
        // Read the position before the file's size, because another thread of this process may append meanwhile.
        let position = position
        guard position.journal === journal else { return nil }
        let status = try SharedCoreError.wrapping { () throws(SystemCallError) in try journal.file.presence() }
        if status.byteCount < position.offset { return .cut(journal.file.path) }
        // Read the frame before the commit word. If the word is not sealed then, no process had freed the journal's
        // space when the frame was read.
        let isRestored = !isLast(position)
        let word = journal.word
        if journal.isWrittenOver { return .writtenOver(journal.file.path) }
        if word.tail < position.offset { return .cut(journal.file.path) }
        // The disk may have dropped a part of an abandoned journal that this process still has in memory.
        if isRestored, !word.isSealed, !word.isAbandoned { return .writtenOver(journal.file.path) }
        return status.isRemoved && !word.isSealed ? .lost(directory.directory.path) : nil
    }

    /// Returns whether the last frame before a position still is the one that this process has read. A frame that
    /// cannot be read now counts as the same, because a read error does not show that it was replaced.
    private func isLast(_ position: JournalFollower.Position) -> Bool {
        guard let offset = position.chainOffset, let found = try? position.journal.file.readWord(at: offset) else {
            return true
        }
        return found == position.chain.value
    }
}

/// The result of the checks of the group's files.
final class PlaceCheck: Sendable {
    /// The tick of the clock in which the files were checked last.
    let tick = Atomic<UInt64>(0)
    /// True after this process has lost the group, even if files appear there later. Set only with ``loss``.
    let isLost = Atomic(false)
    private let error = Mutex<SharedCoreError?>(nil)

    /// The error of all calls after the group was lost; nil before.
    var loss: SharedCoreError? {
        isLost.load(ordering: .acquiring) ? error.withLock { $0 } : nil
    }

    /// Records that this process has lost the group.
    ///
    /// - Returns: Whether this is the first loss; otherwise the first error stays.
    func lose(with error: SharedCoreError) -> Bool {
        self.error.withLock { known in
            guard known == nil else { return false }
            known = error
            isLost.store(true, ordering: .releasing)
            return true
        }
    }
}
