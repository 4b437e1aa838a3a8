internal import CoreAPI
internal import Platform

extension SharedCoreError {
    /// Returns the error of a group with files removed while it was open.
    static func lost(_ path: String) -> SharedCoreError {
        SharedCoreError(
            .unavailable,
            "The group's files were removed or replaced while it was open. Open it again to use the present files.",
            at: path)
    }

    /// Returns the error of a journal that was shortened while it was open.
    static func cut(_ path: String) -> SharedCoreError {
        SharedCoreError(
            .corrupt,
            "The journal is shorter than what was published in it: it was cut, or an older one was copied over it, while the "
                + "group was open. End all processes of the group and restore its directory from a backup.",
            at: path)
    }

    /// Returns the error of a journal that was overwritten while it was open.
    static func writtenOver(_ path: String) -> SharedCoreError {
        SharedCoreError(
            .corrupt,
            "Something was written over the journal while the group was open. End all processes of the group, and restore its "
                + "directory from a backup; “sharedcore salvage DIRECTORY --into NEW” writes what can be proven of it as one.",
            at: path)
    }

    /// Returns the error of a group that participants with another boot id have open.
    static func otherRun(_ other: BootID, own: BootID, at path: String) -> SharedCoreError {
        SharedCoreError(
            .incompatible,
            "Participants with boot id \(other) have the group open, and this process sees boot id \(own): containers of one "
                + "machine may each have their own. Let all of them see the same /proc/sys/kernel/random/boot_id, or give "
                + "each a directory of its own.",
            at: path)
    }

    /// Returns the error of a directory on a file system that other machines may write to.
    static func remote(_ kind: FileSystemKind, at path: String) -> SharedCoreError {
        SharedCoreError(
            .unsupported,
            "The directory is on \(kind), whose locks and mapped pages other machines do not share. Choose one on a "
                + "local file system, or a hub.",
            at: path)
    }

    /// Returns the error of a sealed journal with a missing successor in which the group continued.
    static func lostSuccessor(of journal: Journal, in path: String) -> SharedCoreError {
        let next = GroupDirectory.journalName(journal.generation + 1)
        return SharedCoreError(
            .corrupt,
            "\(next) is missing. The group continued in it after \(GroupDirectory.journalName(journal.generation)), so what was "
                + "committed there would be lost. Put the file back, or restore the whole directory from a backup. When "
                + "no process has the group open, “sharedcore salvage DIRECTORY --into NEW” writes what is left as a backup, "
                + "for “restore”.",
            at: path)
    }

    /// Returns the error of a file with another layout version.
    static func layout(_ found: UInt64, known: UInt64, at path: String) -> SharedCoreError {
        SharedCoreError(
            .incompatible,
            "The group's files have layout version \(found); this program knows version \(known). "
                + (JournalHeader.salvagedVersions.contains(found)
                    ? "When no process has the group open, “sharedcore salvage DIRECTORY --into NEW” writes it anew as a backup "
                        + "in version \(known), and “sharedcore restore NEW” takes it into another group."
                    : "Use the program that wrote them for all processes of the group, or another directory."),
            at: path)
    }
}
