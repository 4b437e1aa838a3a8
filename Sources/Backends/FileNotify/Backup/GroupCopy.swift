package import CoreAPI
internal import Platform
internal import Replica
internal import StoreEngine

/// Writes a state as a group in a directory of its own: a backup.
enum GroupCopy {
    /// Returns when the whole group, with its name, is on the disk. Blocks.
    ///
    /// - Throws: `invalidArgument` when the path is already in use.
    static func write(
        _ state: StoreState, incarnation: UInt64, to path: String
    ) throws(SharedCoreError) -> GroupSummary {
        guard try isFree(path) else {
            throw SharedCoreError(
                .invalidArgument, "A backup is written to a directory that is not there yet or is empty.", at: path)
        }
        let directory = try GroupDirectory(path: path)
        FailPoint.hit("copy.beforeJournal")
        let start = GroupStart(directory: directory, options: FileGroupOptions())
        guard try start.place(state, as: 1, incarnation: incarnation) else {
            throw SharedCoreError(.unavailable, "Another process writes to the directory.", at: path)
        }
        return GroupSummary(state)
    }

    /// Returns whether there is nothing at a path, or only files that precede a journal.
    private static func isFree(_ path: String) throws(SharedCoreError) -> Bool {
        do throws(SystemCallError) {
            return try Directory(path: path).names().allSatisfy {
                $0 == GroupPage.fileName || $0.hasSuffix(JournalBuilder.nameEnding)
            }
        } catch {
            guard error.isAbsent else { throw SharedCoreError(error) }
            return true
        }
    }
}

extension FileGroup {
    /// The number of times that a backup begins anew because the journals that it read from were replaced.
    private static let backupAttempts = 20

    /// Writes the content at one revision as a group in another directory, while other processes go on. It is on the
    /// disk when this returns.
    package func backUp(to path: String) async throws(SharedCoreError) -> GroupSummary {
        try handle.requireOpen()
        return try await local.compaction.thread.run { [local] () throws(SharedCoreError) in
            try Self.backUp(local, to: path)
        }
    }

    private static func backUp(_ local: LocalGroup, to path: String) throws(SharedCoreError) -> GroupSummary {
        for _ in 1..<backupAttempts {
            try local.catchUpInPlace()
            let (state, journal) = local.replica.read { state in (state, local.follower.position(in: &state).journal) }
            do throws(SharedCoreError) {
                return try GroupCopy.write(state, incarnation: journal.header.incarnation, to: path)
            } catch {
                // Large values are read from the journals, and a journal below the floor has freed its space.
                guard error.code == .corrupt, local.directory.page.floor > journal.generation else { throw error }
            }
        }
        throw SharedCoreError(
            .unavailable, "The group's journals are replaced faster than they can be copied.",
            at: local.directory.directory.path)
    }
}

/// The content of a group at one revision, in figures.
package struct GroupSummary: Hashable, Sendable {
    package let revision: Revision
    package let keyCount: Int
    /// The bytes of the content, as the store counts them.
    package let byteCount: Int

    init(_ state: StoreState) {
        revision = state.revision
        keyCount = state.entryCount
        byteCount = state.byteCount
    }
}
