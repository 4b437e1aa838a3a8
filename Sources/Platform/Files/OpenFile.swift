internal import CLinux
internal import Glibc

/// An open file description, closed with its last reference and never inherited by started programs.
///
/// It may be used from any thread: every read and write has its own offset. Opening never waits, not even if the path
/// is a pipe.
package final class OpenFile: Sendable {
    /// The path it was opened by, for messages.
    package let path: String
    /// The system's number for it, valid as long as this object.
    package let descriptor: Int32

    /// Takes over a descriptor.
    package init(owning descriptor: Int32, path: String) {
        self.descriptor = descriptor
        self.path = path
    }

    /// Returns another descriptor of the same description, which the caller must close.
    package func duplicate() throws(SystemCallError) -> Int32 {
        try SystemCall.negated("fcntl(F_DUPFD_CLOEXEC)", at: path) { clinux_duplicate(descriptor, 0) }
    }

    /// Opens another descriptor of the description of a caller's descriptor.
    package convenience init(duplicating descriptor: Int32) throws(SystemCallError) {
        let path = "descriptor \(descriptor)"
        self.init(
            owning: try SystemCall.negated("fcntl(F_DUPFD_CLOEXEC)", at: path) { clinux_duplicate(descriptor, 0) },
            path: path)
    }

    /// The descriptor ranges of the files by which other processes detect the end of this one.
    ///
    /// When a process ends, the kernel closes its files from the highest descriptor down. Closing an inotify instance
    /// takes about 15 ms, and delays every lower descriptor and the event of the pidfd by that time. So these files get
    /// descriptors above that of the inotify instance.
    package enum EarlyEnd: Sendable {
        /// Files that wake waiting processes when they are closed.
        case wakeChannel
        /// The locks that the woken processes check. They have the highest descriptors, so they are closed first.
        case lock

        /// The lowest number that such a file may get.
        package var descriptor: Int32 {
            switch self {
            case .wakeChannel: 512
            case .lock: CLINUX_HIGHEST_DESCRIPTOR
            }
        }
    }

    /// Opens a file at a descriptor that is closed early when the process ends; at any descriptor if the limit is too
    /// low.
    package convenience init(
        _ name: String, in directory: Directory, _ access: Access, closing end: EarlyEnd
    ) throws(SystemCallError) {
        let file = try OpenFile(name, in: directory, access)
        let high =
            Defect.inheritedFiles.isPresent ? dup(file.descriptor) : clinux_duplicate(file.descriptor, end.descriptor)
        self.init(owning: high >= 0 ? high : try file.duplicate(), path: file.path)
    }

    deinit {
        Glibc.close(descriptor)
    }

    /// How a file is opened.
    package enum Access: Sendable {
        /// To read only.
        case read
        /// Read-only, past the system's cache; see ``DiskReader``.
        case readPastCache
        /// To read and write an existing file.
        case write
        /// To read and write; created with mode 0600 if missing.
        case create
        /// To read and write; it must not exist yet. Mode 0600.
        case createNew

        fileprivate var flags: Int32 {
            switch self {
            case .read: O_RDONLY
            case .readPastCache: O_RDONLY | clinux_direct_flag()
            case .write: O_RDWR
            case .create: O_RDWR | O_CREAT
            case .createNew: O_RDWR | O_CREAT | O_EXCL
            }
        }
    }

    /// Opens a file by its name in a directory. Only a regular file is opened: anything else with the name is refused
    /// with an error that names its ``SystemCallError/found`` kind.
    package convenience init(
        _ name: String, in directory: Directory, _ access: Access
    ) throws(SystemCallError) {
        let path = directory.path + "/" + name
        try self.init(regular: path, access == .readPastCache ? "openat(O_DIRECT)" : "openat") {
            openat(directory.descriptor, name, access.flags | Self.closing | O_NOFOLLOW | O_NONBLOCK, 0o600)
        }
        if access == .create || access == .createNew { trace { .created(name: name, file: $0) } }
    }

    /// Opens a file by its path. A symbolic link as its last part is refused; if the file may be created, so is
    /// anything other than a regular file.
    package convenience init(path: String, _ access: Access) throws(SystemCallError) {
        let flags = access.flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
        switch access {
        case .create, .createNew:
            try self.init(regular: path, "open") { open(path, flags, 0o600) }
        case .read, .readPastCache, .write:
            self.init(owning: try SystemCall.run("open", at: path) { open(path, flags) }, path: path)
        }
    }

    /// Opens a file write-only, as some kernel files require.
    package convenience init(toWrite path: String) throws(SystemCallError) {
        self.init(owning: try SystemCall.run("open", at: path) { open(path, O_WRONLY | O_CLOEXEC) }, path: path)
    }

    /// Opens a file for reading, following symbolic links. For a pipe, waits for its other end.
    package convenience init(behind path: String) throws(SystemCallError) {
        self.init(owning: try SystemCall.run("open", at: path) { open(path, O_RDONLY | O_CLOEXEC) }, path: path)
    }

    private convenience init(regular path: String, _ call: String, opening: () -> Int32) throws(SystemCallError) {
        let descriptor: Int32
        do throws(SystemCallError) {
            descriptor = try SystemCall.run(call, at: path, opening)
        } catch {
            // The system's errors for a directory, a symbolic link, and for a socket or a device without a driver.
            guard [EISDIR, ELOOP, ENXIO, ENODEV].contains(error.number),
                let kind = try? FilePresence(ofPath: path).kind, kind != .regular
            else { throw error }
            throw SystemCallError(call, number: error.number, at: path, found: kind)
        }
        self.init(owning: descriptor, path: path)
        let kind = try presence().kind
        guard kind == .regular else { throw SystemCallError(call, number: EINVAL, at: path, found: kind) }
    }

    /// The flag that keeps started programs from inheriting a file.
    private static var closing: Int32 { Defect.inheritedFiles.isPresent ? 0 : O_CLOEXEC }

    /// Returns the system's record of the file.
    package func status() throws(SystemCallError) -> FileStatus {
        var status = stat()
        _ = try SystemCall.run("fstat", at: path) { fstat(descriptor, &status) }
        return FileStatus(status)
    }

    /// Returns the system's record of the file without its times; see ``FilePresence``.
    package func presence() throws(SystemCallError) -> FilePresence {
        try FilePresence(of: descriptor, "", at: path) { () throws(SystemCallError) in try status() }
    }
}
