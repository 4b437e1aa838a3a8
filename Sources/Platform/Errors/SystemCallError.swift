internal import Glibc

/// A system call that failed: which one, on what, and with which error number.
package struct SystemCallError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The name of the call.
    package let call: String
    /// The error number.
    package let number: Int32
    /// What it was about: a path or a process.
    package let location: String
    /// What stands where a regular file belongs; nil where the call failed for another reason.
    package let found: FileKind?

    package init(_ call: String, number: Int32, at location: String, found: FileKind? = nil) {
        self.call = call
        self.number = number
        self.location = location
        self.found = found
    }

    /// The number of "operation not supported".
    package static let unsupportedOperation = EOPNOTSUPP

    /// The system's text for the error number.
    package var text: String {
        var buffer = [CChar](repeating: 0, count: 256)
        guard strerror_r(number, &buffer, buffer.count) == 0 else { return "error \(number)" }
        return String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// What failed and why, for people.
    package var reason: String {
        if let found { return "this is \(found.text), where a regular file belongs" }
        return exhausted.map { "the system has no more \($0)" } ?? "\(call): \(text)"
    }

    package var description: String { "\(call): \(text) (\(number)) [\(location)]" }

    /// Whether the name that the call was given does not exist.
    package var isAbsent: Bool { number == ENOENT }
    /// Whether the name that the call was given exists already.
    package var isPresent: Bool { number == EEXIST }
    /// Whether somebody else has the address that was to be listened at.
    package var isAddressTaken: Bool { number == EADDRINUSE }
    /// Whether there is no space, or the user may not use more of it.
    package var isStorageFull: Bool { (number == ENOSPC || number == EDQUOT) && exhausted == nil }
    /// What the process, its user or the machine has used up, in the plural; nil where the call failed for another reason.
    ///
    /// The same number means different things in different calls: ENOSPC is a full disk, but for a watch it is the user's
    /// limit of watches.
    package var exhausted: String? {
        switch (call, number) {
        case ("inotify_add_watch", ENOSPC): "inotify watches for this user (fs.inotify.max_user_watches)"
        case ("inotify_init1", EMFILE):
            "inotify instances for this user (fs.inotify.max_user_instances), or descriptors for this process (ulimit -n)"
        case ("epoll_ctl", ENOSPC): "epoll watches for this user (fs.epoll.max_user_watches)"
        case ("pthread_create", EAGAIN), ("posix_spawn", EAGAIN), ("posix_spawnp", EAGAIN):
            "threads or processes for this user (ulimit -u, pids.max)"
        case (_, EMFILE): "descriptors for this process (ulimit -n)"
        case (_, ENFILE): "open files on this machine (fs.file-max)"
        case (_, ENOLCK): "file locks on this machine"
        default: nil
        }
    }
    /// Whether the user may not do this.
    package var isForbidden: Bool { number == EACCES || number == EPERM || number == EROFS }
    /// Whether it is a sync that failed. What it was to bring to the disk may be lost, whatever a later one says: the kernel
    /// reports an error once and takes the pages for written.
    package var isFailedSync: Bool { call == "fdatasync" || call == "fsync" }
    /// Whether the file system cannot let processes share memory.
    package var cannotShareMemory: Bool {
        call == "mmap" && (number == ENODEV || number == EINVAL || number == ENOSYS || number == EOPNOTSUPP)
    }
    /// Whether the file system can give a file a name that is free neither by renaming nor by linking it. The owner of a
    /// file is refused a link only where there are none.
    package var cannotTakeFreeName: Bool {
        call == "linkat" && [EPERM, EOPNOTSUPP, ENOSYS, EINVAL].contains(number)
    }
    /// Whether something on the path, or at its end, is no directory, or a link where none may be.
    package var isNotDirectory: Bool { number == ENOTDIR || number == ELOOP }
}
