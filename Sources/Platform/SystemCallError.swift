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
    /// The kind of file that was found in place of a regular one; nil where the call failed for another reason.
    package let found: FileKind?

    package init(_ call: String, number: Int32, at location: String, found: FileKind? = nil) {
        self.call = call
        self.number = number
        self.location = location
        self.found = found
    }

    /// The numbers that other layers tell apart, or give to a failure of their own.
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

    /// The call and the reason of its failure, for people.
    package var reason: String {
        if let found { return "this is \(found.text), where a regular file belongs" }
        return exhausted.map { "the system has no more \($0)" } ?? "\(call): \(text)"
    }

    package var description: String { "\(call): \(text) (\(number)) [\(location)]" }

    /// Whether the name that the call was given does not exist.
    package var isAbsent: Bool { number == ENOENT }
    /// Whether the name that the call was given exists already.
    package var isPresent: Bool { number == EEXIST }
    /// Whether what the call was for is in use.
    package var isBusy: Bool { number == EBUSY }
    /// Whether the pipe or socket that was written to has no reader.
    package var isBrokenPipe: Bool { number == EPIPE }
    /// Whether another process has the address that was to be listened at.
    package var isAddressTaken: Bool { number == EADDRINUSE }
    /// Whether there is no space, or the user may not use more of it.
    package var isStorageFull: Bool { (number == ENOSPC || number == EDQUOT) && exhausted == nil }
    /// The resource that the process, its user or the machine has used up, in the plural; nil where the call failed for
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
        case ("pthread_create", EAGAIN), ("fork", EAGAIN), ("posix_spawnp", EAGAIN):
            "threads or processes for this user (ulimit -u, pids.max)"
        case (_, EMFILE): "descriptors for this process (ulimit -n)"
        case (_, ENFILE): "open files on this machine (fs.file-max)"
        case (_, ENOLCK): "file locks on this machine"
        default: nil
        }
    }
    /// Whether the user may not do this.
    package var isForbidden: Bool { number == EACCES || number == EPERM || number == EROFS }
    /// Whether a sync failed. Its data may be lost, also when a later sync succeeds: the kernel reports an error once
    /// and takes the pages for written.
    package var isFailedSync: Bool { call == "fdatasync" || call == "fsync" }
    /// Whether the file system cannot let processes share memory.
    package var cannotShareMemory: Bool {
        call == "mmap" && (number == ENODEV || number == EINVAL || number == ENOSYS || number == EOPNOTSUPP)
    }
    /// Whether the file system can give a file a name that is free neither by renaming nor by linking it. The owner of
    /// a file is refused a link only where there are none.
    package var cannotTakeFreeName: Bool {
        call == "linkat" && [EPERM, EOPNOTSUPP, ENOSYS, EINVAL].contains(number)
    }
    /// Whether something on the path, or at its end, is no directory, or a link where none may be.
    package var isNotDirectory: Bool { number == ENOTDIR || number == ELOOP }
}

/// Calls the system again as long as a signal interrupts the call.
enum SystemCall {
    /// Runs a call of the C library, which gives -1 and sets errno when it fails.
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

    /// Runs a call that gives its negated error number when it fails.
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
                .storageFull,
                "There is no space left for what was to be written. Free some on that file system, then it works again.",
                at: error.location, cause: cause)
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
        } else if error.number == EROFS {
            self.init(.forbidden, Self.readOnlyMount, at: error.location, cause: cause)
        } else if error.isForbidden {
            self.init(
                .forbidden, "This user may not do that here: check owner and mode.", at: error.location, cause: cause)
        } else if error.cannotShareMemory {
            self.init(
                .unsupported,
                "The file system does not let processes share memory. Give a directory on a local one.",
                at: error.location, cause: cause)
        } else if error.isAbsent {
            self.init(.system, "There is no such file or directory.", at: error.location, cause: cause)
        } else if error.isNotDirectory {
            self.init(
                .system,
                "A part of the path is no directory, or is a symbolic link, which is not followed here. Give the path of what "
                    + "it leads to.", at: error.location, cause: cause)
        } else {
            self.init(.system, "The operating system refused it.", at: error.location, cause: cause)
        }
    }

    /// What the error of a write says where nothing can be written.
    package static let readOnlyMount =
        "The file system is mounted read-only. Mount it for writing, or give another directory."

    /// Runs `body` and gives a failed system call as the error that it is for the user of a group.
    package static func wrapping<Value>(
        _ body: () throws(SystemCallError) -> Value
    ) throws(SharedCoreError) -> Value {
        do throws(SystemCallError) { return try body() } catch { throw SharedCoreError(error) }
    }
}
