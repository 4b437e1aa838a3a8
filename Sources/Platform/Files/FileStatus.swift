internal import CLinux
internal import Glibc

/// The system's record of a file.
package struct FileStatus: Hashable, Sendable {
    /// The file system and the number of the file in it: the file's identity, under any of its names.
    package struct Identity: Hashable, Sendable {
        package let device: UInt64
        package let number: UInt64
    }

    package let identity: Identity
    package let byteCount: Int
    /// The bytes that it takes of the file system.
    package let allocatedByteCount: Int
    /// The user that it belongs to.
    package let owner: UInt32
    /// The group that it belongs to.
    package let group: UInt32
    /// The permissions, as the lower twelve bits of the mode.
    package let permissions: UInt32
    /// True if the last name of the file was removed. A process that has it open can use it, and no other can find it.
    package let isRemoved: Bool
    /// The number of names that the file has.
    package let nameCount: Int
    /// The kind of the file.
    package let kind: FileKind
    /// When its content was last changed, in whole seconds since 1970.
    package let modifiedSeconds: Int
    /// The nanoseconds within that second.
    package let modifiedNanoseconds: Int

    init(_ status: stat) {
        identity = Identity(device: UInt64(status.st_dev), number: UInt64(status.st_ino))
        byteCount = Int(status.st_size)
        allocatedByteCount = Int(status.st_blocks) * 512
        owner = status.st_uid
        group = status.st_gid
        permissions = status.st_mode & 0o7777
        isRemoved = status.st_nlink == 0
        nameCount = Int(status.st_nlink)
        kind = FileKind(status.st_mode)
        modifiedSeconds = status.st_mtim.tv_sec
        modifiedNanoseconds = status.st_mtim.tv_nsec
    }

    package var isDirectory: Bool { kind == .directory }
    package var isRegularFile: Bool { kind == .regular }
    package var isSymbolicLink: Bool { kind == .symbolicLink }
    package var isSocket: Bool { kind == .socket }
    /// True for a pipe, with a name or without.
    package var isPipe: Bool { kind == .pipe }
}

/// The kinds of files that have names.
package enum FileKind: Hashable, Sendable {
    case regular, directory, symbolicLink, socket, pipe, device

    init(_ mode: mode_t) {
        self =
            switch mode & S_IFMT {
            case S_IFREG: .regular
            case S_IFDIR: .directory
            case S_IFLNK: .symbolicLink
            case S_IFSOCK: .socket
            case S_IFIFO: .pipe
            default: .device
            }
    }

    /// Makes the kind of a file from the type in an entry of a directory.
    ///
    /// - Parameter type: The type listed with a name in a directory.
    /// - Returns: Nil if the file system does not list it.
    init?(entryType type: UInt8) {
        guard type != UInt8(DT_UNKNOWN) else { return nil }
        // DTTOIF(3).
        self.init(mode_t(type) << 12)
    }

    /// The name of the kind in messages.
    package var text: String {
        switch self {
        case .regular: "a regular file"
        case .directory: "a directory"
        case .symbolicLink: "a symbolic link"
        case .socket: "a socket"
        case .pipe: "a FIFO"
        case .device: "a device"
        }
    }
}

extension FileStatus {
    /// Reads the status of the file at a path. A symbolic link is read itself, not its target.
    package init(ofPath path: String) throws(SystemCallError) {
        var status = stat()
        _ = try SystemCall.run("lstat", at: path) { lstat(path, &status) }
        self.init(status)
    }

    /// Reads the status of the file at a path, following symbolic links.
    package init(behindPath path: String) throws(SystemCallError) {
        var status = stat()
        _ = try SystemCall.run("stat", at: path) { stat(path, &status) }
        self.init(status)
    }

    /// Returns true if there is a file at a path.
    package static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    /// Returns true if there is a file at a path that this process may run as a program.
    package static func isExecutable(_ path: String) -> Bool { access(path, X_OK) == 0 }

    /// Returns true if this process may execute the file at a path in bytes. Also true for a directory.
    package static func isExecutable(_ path: [UInt8]) -> Bool {
        access(path.map(CChar.init(bitPattern:)) + [0], X_OK) == 0
    }

    /// Returns true if there is a file at a path that this process may write to.
    package static func isWritable(_ path: String) -> Bool { access(path, W_OK) == 0 }

    /// Reads the status of the file at a path given as bytes, following symbolic links.
    package init(behindPath path: [UInt8]) throws(SystemCallError) {
        var status = stat()
        let name = path.map(CChar.init(bitPattern:)) + [0]
        _ = try SystemCall.run("stat", at: String(decoding: path, as: UTF8.self)) { stat(name, &status) }
        self.init(status)
    }

    /// The user that this process acts as.
    package static var currentUser: UInt32 { geteuid() }
}

/// The identity, the kind, the size and the number of names of a file.
///
/// Use it for files that are written all the time. A ``FileStatus`` reads the times of a file. The next write must then
/// store a new time, which costs as much as the write (multigrain timestamps, Linux 6.13).
package struct FilePresence: Hashable, Sendable {
    package let identity: FileStatus.Identity
    package let byteCount: Int
    /// The bytes that it takes of the file system.
    package let allocatedByteCount: Int
    /// The number of names that the file has.
    package let nameCount: Int
    package let kind: FileKind

    /// True if the last name of the file is gone.
    package var isRemoved: Bool { nameCount == 0 }

    /// Returns whether the file takes less space than its part before `end` needs: then that part has holes without
    /// reserved space. A copy may leave holes instead of zeros (`cp --sparse`, `rsync -S`).
    package func hasHoles(before end: Int) -> Bool { allocatedByteCount < min(end, byteCount) }

    /// Reads the status of the file at an absolute path. A symbolic link is read itself, not its target.
    package init(ofPath path: String) throws(SystemCallError) {
        try self.init(of: AT_FDCWD, path, at: path) { () throws(SystemCallError) in try FileStatus(ofPath: path) }
    }

    /// Reads the status of an open file, or of the file at a path.
    ///
    /// - Parameter status: Reads the status by the older call, which also reads the times. Used if the newer call
    ///   fails.
    init(
        of file: Int32, _ name: String, at path: String, orElse status: () throws(SystemCallError) -> FileStatus
    ) throws(SystemCallError) {
        do throws(SystemCallError) {
            var found = clinux_presence()
            _ = try SystemCall.negated("statx", at: path) { clinux_presence(file, name, &found) }
            identity = FileStatus.Identity(device: found.device, number: found.number)
            byteCount = Int(clamping: found.size)
            allocatedByteCount = Int(clamping: found.allocated)
            nameCount = Int(found.names)
            kind = FileKind(found.kind)
        } catch {
            // A container may forbid the newer call.
            guard error.number == ENOSYS || error.number == EPERM else { throw error }
            let status = try status()
            (identity, byteCount, nameCount) = (status.identity, status.byteCount, status.nameCount)
            (allocatedByteCount, kind) = (status.allocatedByteCount, status.kind)
        }
    }
}

/// An extended attribute of a file (xattr(7)).
package enum FileAttribute {
    /// Returns the attribute as text; nil if there is none that this process may see.
    package static func text(_ name: String, of path: String) -> String? {
        var value = [UInt8](repeating: 0, count: 256)
        let count = clinux_attribute(path, name, &value, value.count)
        return count < 0 ? nil : String(decoding: value[..<Int(count)], as: UTF8.self)
    }
}

extension FileStatus {
    /// An objection to a file that only certain users may have written, or read.
    package enum Objection: Hashable, Sendable {
        /// The file is a FIFO, a device, a directory or a socket.
        case notRegular
        /// The file belongs to another user.
        case foreign(owner: UInt32)
        /// The mode of the file gives others permissions that they may not have.
        case open(permissions: UInt32)
    }

    /// Returns the objection to using the file; nil if there is none.
    ///
    /// - Parameters:
    ///   - owners: The users that it may belong to.
    ///   - bits: The permissions that its mode may not have. If all users may read, the group may write if it is the
    ///     user's own, as with a umask of 002; root's group may not, since containers give it to other users.
    package func objection(owners: [UInt32], forbidding bits: UInt32) -> Objection? {
        guard isRegularFile else { return .notRegular }
        guard owners.contains(owner) else { return .foreign(owner: owner) }
        // On systems with a group for each user, of the same number, only root can add other members to that group.
        let isSecret = bits & 0o040 != 0
        let others = group == owner && owner != 0 && !isSecret ? bits & ~0o020 : bits
        return permissions & others == 0 ? nil : .open(permissions: permissions)
    }
}
