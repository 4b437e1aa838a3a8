package import CoreAPI
internal import Platform
internal import StoreEngine

/// Reads all records of a group's files from the disk, and proves each by its checksum: the snapshot, what was committed since,
/// and the values in them. Nothing is changed, and the group's processes go on.
///
/// A process reads what it needs, mostly from the system's cache, and keeps small values in memory, so damage may stand on the
/// disk for long before any process meets it.
package struct GroupScrub: Sendable {
    /// The journals that were read, from the one on from which the group is to be read.
    package private(set) var journalCount = 0
    /// The bytes of their records.
    package private(set) var byteCount = 0

    /// Reads them up to what is published now. Blocks.
    ///
    /// - Throws: `corrupt`, with the place, where something is damaged or missing; `unavailable` for a directory that is not there.
    package init(of path: String) throws(SharedCoreError) {
        let directory: Directory
        do throws(SystemCallError) {
            directory = try Directory(path: path)
        } catch {
            guard error.isAbsent else { throw SharedCoreError(error) }
            throw .unopened(path)
        }
        let floor = try Self.floor(in: directory)
        guard floor > 0 else { return }
        let generations = try SharedCoreError.wrapping { () throws(SystemCallError) in
            try GroupDirectory.generations(in: directory)
        }
        for generation in generations where generation >= floor {
            do throws(SharedCoreError) {
                byteCount += try Self.byteCount(ofRecordsIn: generation, in: directory)
                journalCount += 1
            } catch {
                // It was replaced meanwhile, and has given its space back.
                guard try Self.floor(in: directory) <= generation else { continue }
                throw error
            }
        }
    }

    /// The journal from which the group is to be read.
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

    /// Reads all records of a journal that are published.
    ///
    /// - Returns: Their bytes, with those around them.
    private static func byteCount(
        ofRecordsIn generation: UInt64, in directory: Directory
    ) throws(SharedCoreError) -> Int {
        let name = GroupDirectory.journalName(generation)
        let file = try SharedCoreError.wrapping { () throws(SystemCallError) in
            try OpenFile(name, in: directory, .read)
        }
        let journal = try Journal(file, isReadOnly: true, disk: DiskReader(file, named: name, in: directory))
        let tail = journal.word.tail
        var position = JournalFollower.Position(startOf: journal)
        try JournalFollower.read(from: &position, to: tail) { _ in true }
        guard position.offset == tail else { throw JournalFollower.damaged(journal, at: position.offset) }
        return position.recordByteCount
    }
}
