package import CoreAPI

extension SharedCoreError {
    /// The error that a failed system call is for the user of a group (contract E1).
    package init(_ error: SystemCallError) {
        let cause = "\(error.call): \(error.text)"
        if let found = error.found {
            self.init(
                .corrupt,
                "This is \(found.text), where a regular file belongs. Nothing was read from it or written to it. Move it away; "
                    + "where the file has content that is needed, put that back, as from a backup.",
                at: error.location)
        } else if error.isStorageFull {
            self.init(
                .storageFull, "There is no space left for what was to be written.", at: error.location, cause: cause)
        } else if let exhausted = error.exhausted {
            self.init(
                .unavailable, "The system has no more \(exhausted). It works again when others have let go of some.",
                at: error.location, cause: cause)
        } else if error.cannotTakeFreeName {
            self.init(
                .unsupported,
                "The file system can neither rename a file without replacing another one (RENAME_NOREPLACE) nor link it, "
                    + "by which processes agree on one file of each name. Give a directory on a local file system, such as "
                    + "ext4, XFS, Btrfs or tmpfs.",
                at: error.location, cause: cause)
        } else if error.isForbidden {
            self.init(
                .forbidden, "This user may not do that here: check owner and mode.", at: error.location, cause: cause)
        } else if error.cannotShareMemory {
            self.init(
                .unsupported,
                "The file system does not let processes share memory. Give a directory on a local one.",
                at: error.location, cause: cause)
        } else {
            self.init(.system, "The operating system refused it.", at: error.location, cause: cause)
        }
    }

    /// Runs `body` and gives a failed system call as the error that it is for the user of a group.
    package static func wrapping<Value>(
        _ body: () throws(SystemCallError) -> Value
    ) throws(SharedCoreError) -> Value {
        do throws(SystemCallError) { return try body() } catch { throw SharedCoreError(error) }
    }
}
