internal import CoreAPI
internal import Platform

/// The directory of a group, and the order of its journals.
///
/// Journals are numbered from 1. Each is sealed before the next one gets its name, and the floor rises before an old
/// one is removed. So each process reads the same order, whether it follows them one by one or begins at the floor.
final class GroupDirectory: Sendable {
    let directory: Directory
    let page: GroupPage
    let access: FileGroupOptions.Access
    let fileSystem: FileSystemKind

    /// The number of times that the floor is read again when its journal is missing, before the group counts as
    /// damaged. Each attempt fails only if a whole compaction has completed meanwhile.
    private static let floorAttempts = 100

    /// Opens the directory of a group. Creates a missing one if `access` allows it.
    init(path: String, access: FileGroupOptions.Access = .participant) throws(SharedCoreError) {
        self.access = access
        let opened = try Self.secureDirectory(path, access: access)
        let kind = try SharedCoreError.wrapping { () throws(SystemCallError) in try opened.fileSystemKind() }
        guard !kind.isRemote, !FailPoint.fails("directory.remote") else {
            throw .remote(kind, at: path)
        }
        directory = opened
        fileSystem = kind
        page = try GroupPage(in: directory, access: access)
    }

    /// The identity of the group at any path: that of the file that lives as long as the group.
    var identity: FileStatus.Identity { page.identity }

    /// Returns the file of a name at the path by which the group was opened, which may be another directory by now; nil
    /// if there is none.
    func presence(of name: String) throws(SystemCallError) -> FilePresence? {
        do throws(SystemCallError) {
            return try FilePresence(ofPath: directory.path + "/" + name)
        } catch {
            if error.isAbsent || error.isNotDirectory { return nil }
            throw error
        }
    }

    static func journalName(_ generation: UInt64) -> String {
        "journal-\(generation)"
    }

    /// Opens a journal by its number; nil if it is missing.
    func journal(_ generation: UInt64) throws(SharedCoreError) -> Journal? {
        let file: OpenFile
        do throws(SystemCallError) {
            file = try OpenFile(Self.journalName(generation), in: directory, access == .readOnly ? .read : .write)
        } catch {
            if error.isAbsent { return nil }
            throw SharedCoreError(error)
        }
        let journal = try Journal(file, isReadOnly: access == .readOnly)
        guard journal.generation == generation else {
            throw SharedCoreError(
                .corrupt, "The file holds journal \(journal.generation), not the one that it is named for.",
                at: file.path)
        }
        return journal
    }

    /// Opens a journal of an earlier boot of the machine; nil if it is missing, or if too little of it has reached the
    /// disk.
    func survivingJournal(_ generation: UInt64) throws(SharedCoreError) -> Journal? {
        do throws(SharedCoreError) {
            return try journal(generation)
        } catch {
            if error.code == .corrupt { return nil }
            throw error
        }
    }

    /// Returns the journal from which the group is to be read; nil when the group has none yet.
    func floorJournal() throws(SharedCoreError) -> Journal? {
        for _ in 0..<Self.floorAttempts {
            let floor = page.floor
            guard floor > 0 else { return nil }
            guard JournalHeader.numbers.contains(floor) else { break }
            if let journal = try journal(floor) { return journal }
        }
        let wayOut =
            try generations().isEmpty
            ? "Restore the directory from a backup, or remove it to begin an empty group."
            : "When no process has the group open, remove the file \(GroupPage.fileName): it is made again from the journals "
                + "that are there."
        throw SharedCoreError(
            .corrupt,
            "The journal \(Self.journalName(page.floor)), from which the group is to be read, is missing. \(wayOut)",
            at: directory.path)
    }

    /// Returns the successor of a sealed journal, or the floor's journal if the successor is removed already; nil if no
    /// process has created it yet.
    func successor(of journal: Journal) throws(SharedCoreError) -> Journal? {
        let next = journal.generation + 1
        // Read the flag before the lookup. A process sets it after it has found the next journal, so the lookup must
        // find that journal too, unless it was removed.
        let isSucceeded = journal.isSucceeded
        let found = try self.journal(next)
        // Read the floor after the journal was opened. A process that was stopped for long may have placed this journal
        // after the true one of that number had been removed; it is then below the floor.
        let floor = page.floor
        if let found, floor <= next {
            journal.noteSuccessor()
            return found
        }
        if floor >= next { return try floorJournal() }
        guard !isSucceeded else { throw .lostSuccessor(of: journal, in: directory.path) }
        return nil
    }

    /// Returns true if a journal that was just given its name belongs to the group. A journal that came too late is
    /// removed: every process that checks it sees that the floor is higher.
    func keepsPlaced(_ generation: UInt64) throws(SharedCoreError) -> Bool {
        guard page.floor > generation else { return true }
        do throws(SystemCallError) {
            try directory.remove(Self.journalName(generation))
        } catch {
            throw SharedCoreError(error)
        }
        return false
    }

    /// Returns the numbers of the journals that are there, rising.
    func generations() throws(SharedCoreError) -> [UInt64] {
        try SharedCoreError.wrapping { () throws(SystemCallError) in try Self.generations(in: directory) }
    }

    /// Returns the numbers of the journals in a directory, rising.
    static func generations(in directory: Directory) throws(SystemCallError) -> [UInt64] {
        try directory.names().compactMap { name in
            guard name.hasPrefix("journal-"), let number = UInt64(name.dropFirst("journal-".count)),
                JournalHeader.numbers.contains(number)
            else { return nil }
            return number
        }.sorted()
    }

    /// Returns whether there is an older journal, which a compaction would remove or has left behind.
    func hasJournal(before generation: UInt64) -> Bool {
        (try? Self.generations(in: directory))?.first.map { $0 < generation } ?? false
    }

    /// Removes the journals below the floor, and the files of killed builders. A file that cannot be removed now stays
    /// until the next call.
    func removeObsolete() {
        let floor = page.floor
        guard let names = try? directory.names() else { return }
        let journals = names.filter { name in
            name.hasPrefix("journal-") && UInt64(name.dropFirst("journal-".count)).map { $0 < floor } == true
        }
        JournalBuilder.removeUnfinished(in: directory)
        // Another process may have raised the floor just now. If the floor is not on the disk before a loss of power,
        // the group is read from the journals that are removed here, so sync it first. Also check that the journal of
        // the floor exists: a floor that is high because of damage would remove everything.
        guard !journals.isEmpty, (try? floorJournal()) != nil, (try? page.synchronize()) != nil else { return }
        for name in journals {
            // Free the file's space: a stopped or slow process that has the file open would keep it. Such a process
            // continues at the floor.
            if !Defect.heldSpace.isPresent, let file = try? OpenFile(name, in: directory, .write),
                let size = try? file.presence().byteCount
            {
                try? file.punch(JournalHeader.byteCount..<max(size, JournalHeader.byteCount))
            }
            _ = try? directory.remove(name)
        }
    }
}
