package import CoreAPI
internal import Platform
internal import StoreEngine

extension FileGroup {
    /// Replaces the content of a group by that of a backup. Creates the group if there is none. Blocks.
    ///
    /// The group continues in a new incarnation. Its revisions lie above all earlier revisions of this directory, and of
    /// each directory in which the backup was restored in another second. So a request that was refused or fenced cannot
    /// succeed after the restoration. Sessions, and the entries that lived with them, are removed.
    ///
    /// - Throws: `corrupt` when the backup is not whole; `unavailable` while a participant has the group open;
    ///   `storageFull` when the disk has no space for the backup beside the present content. The space that a group of
    ///   this content reserves counts.
    package static func restore(_ backup: SalvagedGroup, into path: String) throws(SharedCoreError) -> GroupSummary {
        try restore(
            backup, into: path, unixSeconds: UInt64(max(0, SystemClock.secondsSince1970)), options: FileGroupOptions())
    }

    package static func restore(
        _ backup: SalvagedGroup, into path: String, unixSeconds: UInt64, options: FileGroupOptions
    ) throws(SharedCoreError) -> GroupSummary {
        if let finding = backup.findings.first {
            throw SharedCoreError(
                .corrupt,
                "The backup is not whole: \(finding) “sharedcore salvage” writes what is left of it as a whole one.",
                at: backup.path)
        }
        let directory: GroupDirectory
        let start: GroupStart
        let present: SurvivingRecords
        do throws(SharedCoreError) {
            directory = try GroupDirectory(path: path)
            start = GroupStart(directory: directory, options: options)
            let floor = try start.journal()
            FailPoint.hit("restore.beforeRecords")
            present = try start.survivingState(from: floor)
            // The commit word was read before this check. A process that joins after the check changes the word, and
            // the restoration then fails.
            guard try !start.isOpen() else { throw busy(path) }
            let last = present.position.journal
            // Otherwise the seal would cut off published records.
            guard present.word.tail <= present.position.offset else {
                throw SharedCoreError(
                    .corrupt, "The journal is damaged at byte \(present.position.offset).", at: last.file.path)
            }
            guard try directory.generations().last == last.generation else {
                throw SharedCoreError(.corrupt, "A journal does not continue its predecessor.", at: path)
            }
        } catch {
            guard error.code == .corrupt else { throw error }
            throw SharedCoreError(
                .corrupt,
                "The group at this path is damaged. End its processes, move its directory away, and restore again.",
                at: path, cause: error.message)
        }
        // A process that joins after the seal creates a journal of this number too, and only one of the two gets the
        // name.
        let generation = present.position.journal.generation + 1
        var state = backup.state
        state.apply(
            Effect(
                revision: try revision(after: max(state.revision, present.state.revision), unixSeconds, at: path),
                time: options.clock.now(), body: .restarted(options.clock.bootID)))
        let isBegun: Bool
        do throws(SharedCoreError) {
            isBegun = try start.beginIncarnation(
                max(backup.incarnation, present.incarnation) + 1, of: state, after: present, as: generation,
                isReplacement: true)
        } catch {
            guard (try? directory.journal(generation)) != nil else { throw error }
            throw SharedCoreError(
                .outcomeUnknown, "The backup was restored, but the disk has not confirmed it. Restore it again.",
                at: path,
                cause: error.message)
        }
        // `beginIncarnation` returns false if a process has joined after the check and has written to the journal. The
        // group then stays as it is.
        guard isBegun else { throw busy(path) }
        return GroupSummary(state)
    }

    /// Returns the revision with which a restored group begins. It is above all revisions that may have been given out,
    /// except those of a restoration elsewhere in the same second.
    private static func revision(
        after last: Revision, _ unixSeconds: UInt64, at path: String
    ) throws(SharedCoreError) -> Revision {
        // Epochs are below 2^63, and each restart of the machine takes 2^32 more.
        let highest = UInt64(1) << 63 - UInt64(1) << 48
        let byClock = min(unixSeconds, UInt64(UInt32.max)) << 31
        let revision = max(last.rawValue + 1 << 32, min(byClock, highest))
        guard revision <= highest else {
            throw SharedCoreError(
                .limitExceeded, "The revisions of the group, or of the backup, are used up.", at: path)
        }
        return Revision(rawValue: revision)
    }

    private static func busy(_ path: String) -> SharedCoreError {
        SharedCoreError(
            .unavailable,
            "Processes have the group open; “sharedcore status” names them. End them, the hub included, before it is "
                + "restored.", at: path)
    }
}
