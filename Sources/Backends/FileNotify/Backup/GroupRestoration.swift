package import CoreAPI
internal import Glibc
internal import Platform
internal import StoreEngine

extension FileGroup {
    /// Puts what a backup holds in the place of a group's content. The group is made where there is none. Blocks.
    ///
    /// It goes on in a new incarnation, whose revisions lie above all that were handed out before, in this directory or
    /// another one where the backup was restored at another second: what was refused or fenced stays so. Sessions, and
    /// what lived with them, are gone.
    ///
    /// - Throws: `corrupt` when the backup is not whole, `unavailable` while a participant has the group open.
    package static func restore(_ backup: SalvagedGroup, into path: String) throws(SharedCoreError) -> GroupSummary {
        try restore(backup, into: path, unixSeconds: UInt64(max(0, time(nil))), options: FileGroupOptions())
    }

    package static func restore(
        _ backup: SalvagedGroup, into path: String, unixSeconds: UInt64, options: FileGroupOptions
    ) throws(SharedCoreError) -> GroupSummary {
        if let finding = backup.findings.first {
            throw SharedCoreError(
                .corrupt,
                "The backup is not whole: \(finding) “sharedcore salvage” writes what is left of it as a whole one.",
                at: path)
        }
        let directory = try GroupDirectory(path: path)
        let start = GroupStart(directory: directory, options: options)
        let floor = try start.journal()
        guard try !start.isOpen() else { throw busy(path) }
        let present = try SurvivingRecords(from: floor, limits: options.limits) { generation throws(SharedCoreError) in
            try directory.survivingJournal(generation)
        }
        // Before the seal: a process that joins after it makes the journal of this number, and one of the two gets its name.
        let generation = max(try directory.generations().last ?? 0, present.position.journal.generation) + 1
        var state = backup.state
        let last = max(state.revision, present.state.revision).rawValue
        state.apply(
            Effect(
                revision: Revision(rawValue: max(last + 1 << 32, unixSeconds << 32)), time: options.clock.now(),
                body: .restarted(options.clock.bootID)))
        FailPoint.hit("restore.beforeSeal")
        // A process that has joined since the look has written to the journal, and keeps the group.
        guard present.seal() else { throw busy(path) }
        FailPoint.hit("restore.afterSeal")
        let incarnation = max(backup.incarnation, present.incarnation) + 1
        guard try start.place(state, as: generation, incarnation: incarnation) else { throw busy(path) }
        directory.removeObsolete()
        return GroupSummary(state)
    }

    private static func busy(_ path: String) -> SharedCoreError {
        SharedCoreError(
            .unavailable, "Processes have the group open. End them, the hub included, before it is restored.", at: path)
    }
}
