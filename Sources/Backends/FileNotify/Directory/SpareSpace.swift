internal import Platform

/// The space of more journals, kept as a file of its own, so that on a full disk a frozen writer can be passed over and
/// then a compaction can make room (contract S10, S15).
enum SpareSpace {
    static let fileName = "spare"
    /// What a journal has space for beyond its snapshot and what is kept for endings.
    static let leastContentByteCount = 64 << 10

    /// The space of a journal with a snapshot of this size.
    static func compaction(of snapshotByteCount: Int) -> Int {
        JournalHeader.byteCount + snapshotByteCount + Journal.reserveByteCount
    }

    /// The same, and that of a journal without a snapshot before it.
    static func rollAndCompaction(of snapshotByteCount: Int) -> Int {
        compaction(of: 0) + compaction(of: snapshotByteCount)
    }

    /// Makes the file unless it is there and so large. Without space there is none until there is space again.
    ///
    /// - Throws: As a full disk does also while the file is becoming a journal.
    static func keep(_ wanted: Int, in directory: Directory) throws(SystemCallError) {
        while true {
            if let present = try take(in: directory) {
                return try present.allocate(min(wanted, try present.status().byteCount)..<wanted)
            }
            let (file, name) = try JournalBuilder.newFile(fileName, in: directory, byteCount: wanted)
            let isNamed =
                if let name { try directory.rename(name, toFree: fileName) } else {
                    try file.link(as: fileName, in: directory)
                }
            if isNamed { return }
            if let name { try directory.remove(name) }
        }
    }

    /// Opens the file and locks it, which gives it to the caller until it is closed.
    ///
    /// - Returns: The file; nil when there is none.
    /// - Throws: As a full disk does when another process has it.
    static func take(in directory: Directory) throws(SystemCallError) -> OpenFile? {
        let file: OpenFile
        do throws(SystemCallError) {
            file = try OpenFile(fileName, in: directory, .write)
        } catch {
            guard error.isAbsent else { throw error }
            return nil
        }
        // Its holder may have given it a journal's name since it was opened: then the lock is that of a writer.
        guard try file.tryLock(byteAt: Journal.lockByte),
            (try? FileStatus(ofPath: directory.path + "/" + fileName).identity) == (try file.status().identity)
        else { throw SystemCallError("posix_fallocate", number: SystemCallError.noSpace, at: file.path) }
        return file
    }
}
