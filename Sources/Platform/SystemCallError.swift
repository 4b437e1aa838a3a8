package import CoreAPI
internal import Glibc

/// A system call that failed, with its object and its error number.
package struct SystemCallError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The name of the call.
    package let call: String
    /// The error number.
    package let number: Int32
    /// The subject of the call: a path or a process.
    package let location: String
    /// The kind of file that was found instead of a regular one; nil if the call failed for another reason.
    package let found: FileKind?

    package init(_ call: String, number: Int32, at location: String, found: FileKind? = nil) {
        self.call = call
        self.number = number
        self.location = location
        self.found = found
    }

    /// The numbers that other layers distinguish, or use for failures of their own.
    package enum Number {
        package static let accessDenied = EACCES
        package static let addressInUse = EADDRINUSE
        package static let addressNotAvailable = EADDRNOTAVAIL
        package static let brokenPipe = EPIPE
        package static let exists = EEXIST
        package static let interrupted = EINTR
        package static let invalidArgument = EINVAL
        package static let nameTooLong = ENAMETOOLONG
        package static let noDevice = ENODEV
        package static let noSpace = ENOSPC
        package static let notPermitted = EPERM
        package static let notSupported = ENOTSUP
        package static let protocolNotSupported = EPROTONOSUPPORT
        package static let tooManyFiles = EMFILE
        package static let tooManyFilesInSystem = ENFILE
        package static let wouldBlock = EAGAIN
    }

    /// The system's text for the error number.
    package var text: String {
        var buffer = [CChar](repeating: 0, count: 256)
        guard strerror_r(number, &buffer, buffer.count) == 0 else { return "error \(number)" }
        return String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// The system's text, and for a call that this user may not make also the owner and the mode that were found: one
    /// sentence or several, with a full stop.
    package var sentence: String { isForbidden && number != EROFS ? "\(text): \(refusal)" : text + "." }

    /// The call and the reason of its failure, for people.
    package var reason: String {
        if let found { return "this is \(found.text), where a regular file belongs" }
        return exhausted.map { "the system has no more \($0)" } ?? "\(call): \(text)"
    }

    package var description: String { "\(call): \(text) (\(number)) [\(location)]" }

    /// True if the name passed to the call does not exist.
    package var isAbsent: Bool { number == ENOENT }
    /// True if the name passed to the call exists already.
    package var isPresent: Bool { number == EEXIST }
    /// True if the object of the call is in use.
    package var isBusy: Bool { number == EBUSY }
    /// True if the pipe or socket that was written to has no reader.
    package var isBrokenPipe: Bool { number == EPIPE }
    /// True if nothing listens at the address.
    package var isRefused: Bool { number == ECONNREFUSED }
    /// True if another process listens at the address already.
    package var isAddressTaken: Bool { number == EADDRINUSE }
    /// True if there is no space, or the user's quota is used up.
    package var isStorageFull: Bool { (number == ENOSPC || number == EDQUOT) && exhausted == nil }
    /// The resource that the process, its user or the machine has used up, in the plural; nil if the call failed for
    /// another reason.
    ///
    /// The same number means different things in different calls: ENOSPC is a full disk, but for a watch it is the
    /// user's limit of watches.
    package var exhausted: String? {
        switch (call, number) {
        case ("inotify_add_watch", ENOSPC): "inotify watches for this user (fs.inotify.max_user_watches)"
        case ("inotify_init1", EMFILE):
            "inotify instances for this user (fs.inotify.max_user_instances), or descriptors for this process (ulimit -n)"
        case ("epoll_ctl", ENOSPC): "epoll watches for this user (fs.epoll.max_user_watches)"
        case ("pthread_create", EAGAIN), ("clone", EAGAIN), ("posix_spawnp", EAGAIN):
            "threads or processes for this user (ulimit -u, pids.max)"
        case (_, EMFILE): "descriptors for this process (ulimit -n)"
        case (_, ENFILE): "open files on this machine (fs.file-max)"
        case (_, ENOLCK): "file locks on this machine"
        default: nil
        }
    }
    /// True if the user has no permission for the call, or the file system is read-only.
    package var isForbidden: Bool { number == EACCES || number == EPERM || number == EROFS }
    /// True if a sync failed. Its data may be lost even if a later sync succeeds: the kernel reports an error once and
    /// treats the pages as written.
    package var isFailedSync: Bool { call == "fdatasync" || call == "fsync" }
    /// True if processes cannot share memory on the file system.
    package var cannotShareMemory: Bool {
        call == "mmap" && (number == ENODEV || number == EINVAL || number == ENOSYS || number == EOPNOTSUPP)
    }
    /// True if the file system can give a file a free name neither by renaming nor by linking it. The owner of a file
    /// is refused a link only if the file system has no links.
    package var cannotTakeFreeName: Bool {
        call == "linkat" && [EPERM, EOPNOTSUPP, ENOSYS, EINVAL].contains(number)
    }
    /// True if the call creates the last part of its path.
    var createsName: Bool { ["mkdir", "mkdtemp", "symlinkat"].contains(call) }
    /// True if the call adds, renames or removes the last part of its path, for which it needs its directory only.
    private var changesNames: Bool {
        createsName || ["linkat", "renameat", "renameat2", "rmdir", "unlinkat"].contains(call)
    }

    /// The message for a call that this user may not make, with the owner and the mode that were found and the user that
    /// needs the permission.
    ///
    /// Reads the status of the location, or of the nearest directory above it that shows its status.
    fileprivate var refusal: String {
        var path = location[...]
        func removeLast() { path = path[..<(path.lastIndex(of: "/") ?? path.startIndex)] }
        if changesNames { removeLast() }
        while location.hasPrefix("/") {
            let place = path.isEmpty ? "/" : String(path)
            if let status = try? FileStatus(behindPath: place) {
                let user = FileStatus.currentUser
                let remedy =
                    status.owner == user
                    ? "Set a mode that allows it; where the mode does, the file system or a security module forbids it."
                    : "Run as user \(status.owner), or give this user the permission."
                return "\(place) has owner \(status.owner), group \(status.group) and mode "
                    + "\(String(status.permissions, radix: 8)), and this is user \(user). \(remedy)"
            }
            guard !path.isEmpty else { break }
            removeLast()
        }
        return "This is user \(FileStatus.currentUser), who may not do that here. Run as a user who may."
    }

    /// True if a component of the path is no directory, or is a forbidden link.
    package var isNotDirectory: Bool { number == ENOTDIR || number == ELOOP }
}

/// Repeats a system call that was interrupted by a signal.
enum SystemCall {
    /// Runs a call of the C library that returns -1 and sets errno when it fails.
    static func run<Value: FixedWidthInteger>(
        _ name: String, at location: @autoclosure () -> String, _ body: () -> Value
    ) throws(SystemCallError) -> Value {
        if let number = FailPoint.failure(of: name, at: location()) {
            throw SystemCallError(name, number: number, at: location())
        }
        while true {
            let result = body()
            guard result == -1 else { return result }
            let number = errno
            if number != EINTR { throw SystemCallError(name, number: number, at: location()) }
        }
    }

    /// Runs a call that returns its negated error number when it fails.
    @discardableResult
    static func negated(
        _ name: String, at location: @autoclosure () -> String, _ body: () -> Int32
    ) throws(SystemCallError) -> Int32 {
        if let number = FailPoint.failure(of: name, at: location()) {
            throw SystemCallError(name, number: number, at: location())
        }
        while true {
            let result = body()
            guard result < 0 else { return result }
            if result != -EINTR { throw SystemCallError(name, number: -result, at: location()) }
        }
    }
}

extension SharedCoreError {
    /// Converts a failed system call to the error for the user of a group (contract E1).
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
                .storageFull,
                "There is no space left for what was to be written. Free some on that file system, then it works again.",
                at: error.location, cause: cause)
        } else if let exhausted = error.exhausted {
            self.init(
                .unavailable, "The system has no more \(exhausted). Retry when other processes have released some.",
                at: error.location, cause: cause)
        } else if error.cannotTakeFreeName {
            self.init(
                .unsupported,
                "The file system can neither rename a file without replacing another one (RENAME_NOREPLACE) nor link it, "
                    + "by which processes agree on one file of each name. Give a directory on a local file system, such as "
                    + "ext4, XFS, Btrfs or tmpfs.",
                at: error.location, cause: cause)
        } else if error.number == EROFS {
            self.init(.forbidden, Self.readOnlyMount, at: error.location, cause: cause)
        } else if error.isForbidden {
            self.init(.forbidden, error.refusal, at: error.location, cause: cause)
        } else if error.cannotShareMemory {
            self.init(
                .unsupported,
                "The file system does not let processes share memory. Give a directory on a local one.",
                at: error.location, cause: cause)
        } else if error.isAbsent {
            // Not the words of the cause, which a message for users has beside this one.
            let message =
                error.createsName
                ? "The directory in which a name is to be created does not exist, or its file system creates none."
                : "The path, or a part of it, does not exist."
            self.init(.system, message, at: error.location, cause: cause)
        } else if error.isNotDirectory {
            self.init(
                .system,
                "A part of the path is no directory, or is a symbolic link, which is not followed here. Give the path of what "
                    + "it leads to.", at: error.location, cause: cause)
        } else {
            self.init(.system, "The operating system refused it.", at: error.location, cause: cause)
        }
    }

    /// The message of the error for a read-only file system.
    package static let readOnlyMount =
        "The file system is mounted read-only. Mount it for writing, or give another directory."

    /// Runs `body` and throws a failed system call as the error for the user of a group.
    package static func wrapping<Value>(
        _ body: () throws(SystemCallError) -> Value
    ) throws(SharedCoreError) -> Value {
        do throws(SystemCallError) { return try body() } catch { throw SharedCoreError(error) }
    }
}
