internal import CoreAPI
internal import Platform

/// Finds the journal from which a group is to be read when the file `sessions`, which names the journal, is missing or
/// names none.
///
/// It is the newest journal with a whole snapshot. The journals after it continue it, and their checksums prove that. A
/// group is recovered only when no process has a journal open: such a process holds its session's byte in the missing
/// file, where a joining process could not see it.
struct FloorRecovery {
    let directory: Directory

    /// Returns the number of the newest journal with a whole snapshot; 0 for a directory without any journal, in which
    /// a group may begin.
    ///
    /// - Throws: `corrupt` when a process has a journal open, or none is whole. The message says what to do.
    func floor() throws(SharedCoreError) -> UInt64 {
        let generations = try SharedCoreError.wrapping { () throws(SystemCallError) in
            try GroupDirectory.generations(in: directory)
        }
        if generations.isEmpty { return 0 }
        for generation in generations { try requireUnused(generation) }
        for generation in generations.reversed() where try isWhole(generation) { return generation }
        throw SharedCoreError(
            .corrupt,
            "The file \(GroupPage.fileName) is missing, and no journal is whole from which it could be made again. Restore "
                + "the directory from a backup, or remove it to begin an empty group.",
            at: directory.path)
    }

    private func requireUnused(_ generation: UInt64) throws(SharedCoreError) {
        let name = GroupDirectory.journalName(generation)
        let hasWriters: Bool
        do throws(SystemCallError) {
            hasWriters = try OpenFile(name, in: directory, .read).hasWriters()
        } catch {
            // It was removed as obsolete, or the name belongs to another kind of file.
            if error.isAbsent || error.found != nil { return }
            throw SharedCoreError(
                .corrupt,
                "The file \(GroupPage.fileName) is missing, and the system cannot tell here whether a process still has "
                    + "\(name) open. End all processes of the group, copy the directory to a local file system, such as "
                    + "ext4 or tmpfs, open the group there once, and copy it back.",
                at: directory.path, cause: "\(error.call): \(error.text)")
        }
        guard hasWriters else { return }
        throw SharedCoreError(
            .corrupt,
            "The file \(GroupPage.fileName) is missing, and a process still has \(name) open. End all processes of the "
                + "group (fuser -v \(directory.path)/journal-* lists them), then open it again: the file is made again "
                + "from the journals.",
            at: directory.path)
    }

    /// Returns whether a journal has a snapshot that can be read to its end.
    private func isWhole(_ generation: UInt64) throws(SharedCoreError) -> Bool {
        do throws(SharedCoreError) {
            let file = try SharedCoreError.wrapping { () throws(SystemCallError) in
                try OpenFile(GroupDirectory.journalName(generation), in: directory, .read)
            }
            let journal = try Journal(file, isReadOnly: true)
            guard journal.generation == generation, journal.header.hasSnapshot else { return false }
            _ = try JournalFollower.snapshot(of: journal, limits: Limits(), historyByteCount: 0)
            return true
        } catch {
            if error.code == .corrupt { return false }
            throw error
        }
    }
}
