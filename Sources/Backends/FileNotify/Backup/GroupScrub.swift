package import CoreAPI
internal import Platform
internal import Replica
internal import StoreEngine

/// Reads all records of a group's files from the disk, and proves each by its checksum: the snapshot, the commits
/// since, and the values in them. Nothing is changed, and the group's processes go on.
///
/// Running processes do not detect such damage for a long time: they read few records, mostly from the kernel's page
/// cache, and keep small values in memory.
package struct GroupScrub: Sendable {
    /// The number of journals that were read, from the floor on.
    package private(set) var journalCount = 0
    /// The bytes of their records.
    package private(set) var byteCount = 0
    /// True if all of these bytes came from the disk. Otherwise some came from the system's cache, which hides damage
    /// on the disk.
    package private(set) var isPastCache = true

    /// Reads the records up to the published tail. If no participant has opened the group since the machine was
    /// started, or since the disk lost a part of it, reads up to the point where the next participant would go on.
    /// Blocks.
    ///
    /// - Throws: `corrupt`, with the place, when something is damaged or missing; `unavailable` for a missing
    ///   directory.
    package init(of path: String, options: FileGroupOptions = FileGroupOptions()) throws(SharedCoreError) {
        do throws(SharedCoreError) {
            try read(path)
        } catch {
            guard error.code == .corrupt, let directory = try? GroupDirectory(path: path, access: .readOnly),
                let records = try? GroupStart(directory: directory, options: options).records(insteadOf: error)
            else { throw error }
            (journalCount, byteCount) = (records.journalCount, records.byteCount)
        }
    }

    private mutating func read(_ path: String) throws(SharedCoreError) {
        let directory: Directory
        do throws(SystemCallError) {
            directory = try Directory(path: path)
        } catch {
            guard error.isAbsent else { throw SharedCoreError(error) }
            throw .unopened(path)
        }
        for generation in try Self.generations(in: directory) {
            do throws(SharedCoreError) {
                let (count, isPastCache) = try Self.byteCount(ofRecordsIn: generation, in: directory)
                byteCount += count
                journalCount += 1
                if !isPastCache { self.isPastCache = false }
            } catch {
                // A compaction has replaced this journal meanwhile and freed its space, so skip it.
                guard try Self.floor(in: directory) <= generation else { continue }
                throw error
            }
        }
    }

    /// Returns the journals from which the group is read now: the one at the floor, and each following one, which
    /// begins where the one before it was sealed.
    private static func generations(in directory: Directory) throws(SharedCoreError) -> Range<UInt64> {
        while true {
            let floor = try floor(in: directory)
            guard floor > 0 else { return 0..<0 }
            let found = try SharedCoreError.wrapping { () throws(SystemCallError) in
                Set(try GroupDirectory.generations(in: directory).filter { $0 >= floor })
            }
            let end = floor + UInt64(found.count)
            guard let missing = (floor..<max(end, floor + 1)).first(where: { !found.contains($0) }) else {
                return floor..<end
            }
            // The journals below the floor may have been removed between the two reads.
            guard try Self.floor(in: directory) == floor else { continue }
            throw SharedCoreError(
                .corrupt,
                "\(GroupDirectory.journalName(missing)) is missing, and the group cannot be read without it. Put the file "
                    + "back, or restore the whole directory from a backup.", at: directory.path)
        }
    }

    /// Returns the journal from which the group is to be read.
    private static func floor(in directory: Directory) throws(SharedCoreError) -> UInt64 {
        let page = try SharedCoreError.wrapping { () throws(SystemCallError) in
            let file = try OpenFile(GroupPage.fileName, in: directory, .read)
            return try DiskReader(file, named: GroupPage.fileName, in: directory)
                .read(count: MappedPage.byteCount, at: 0)
        }
        guard let floor = GroupPage.floor(ofPage: page) else {
            throw GroupPage.damaged(
                "This is not the first page of a group.", at: directory.path + "/" + GroupPage.fileName)
        }
        return floor
    }

    /// Reads all published records of a journal, as a check that they can be read.
    ///
    /// - Returns: The number of bytes of the records with their frames, and whether they came from the disk.
    /// - Throws: `corrupt` for a record that is damaged, or a missing next journal.
    private static func byteCount(
        ofRecordsIn generation: UInt64, in directory: Directory
    ) throws(SharedCoreError) -> (count: Int, isPastCache: Bool) {
        let name = GroupDirectory.journalName(generation)
        let file = try SharedCoreError.wrapping { () throws(SystemCallError) in
            try OpenFile(name, in: directory, .read)
        }
        let disk = DiskReader(file, named: name, in: directory)
        let journal = try Journal(file, isReadOnly: true, disk: disk)
        let tail = journal.word.tail
        var position = JournalFollower.Position(startOf: journal)
        try JournalFollower.read(from: &position, to: tail) { _ in true }
        guard position.offset == tail else { throw JournalFollower.damaged(journal, at: position.offset) }
        if journal.isSucceeded {
            let found = try SharedCoreError.wrapping { () throws(SystemCallError) in
                try GroupDirectory.generations(in: directory)
            }
            if !found.contains(generation + 1) { throw .lostSuccessor(of: journal, in: directory.path) }
        }
        return (position.recordByteCount, disk.isPastCache)
    }
}
