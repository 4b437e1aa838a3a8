internal import CLinux
internal import Glibc

/// An open directory. Names are looked up in it, so renaming or replacing its path has no effect.
package final class Directory: Sendable {
    /// The path it was opened by, for messages.
    package let path: String
    /// The system's number for it, valid as long as this object.
    package let descriptor: Int32

    /// Returns the path of a file's directory, and the file's name in it.
    package static func parts(of path: String) -> (directory: String, name: String) {
        let bytes = path.utf8
        let slash = bytes.lastIndex(of: UInt8(ascii: "/")) ?? bytes.startIndex
        return (
            slash > bytes.startIndex ? String(path[..<slash]) : "/",
            String(decoding: bytes[slash...].dropFirst(), as: UTF8.self)
        )
    }

    /// Opens a directory. A symbolic link as its last part is refused.
    package init(path: String) throws(SystemCallError) {
        descriptor = try SystemCall.run("open", at: path) {
            Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
        }
        self.path = path
    }

    init(owning descriptor: Int32, path: String) {
        self.descriptor = descriptor
        self.path = path
    }

    deinit {
        Glibc.close(descriptor)
    }

    /// Returns a path without symbolic links; nil if it does not exist.
    package static func resolvedPath(of path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    /// Creates a directory with the given permissions, reduced by the process's umask.
    ///
    /// - Returns: Whether it was created; false if the name exists already.
    package static func create(path: String, permissions: UInt32) throws(SystemCallError) -> Bool {
        do throws(SystemCallError) {
            _ = try SystemCall.run("mkdir", at: path) { mkdir(path, permissions) }
            return true
        } catch {
            guard error.isPresent else { throw error }
            return false
        }
    }

    /// Creates a new directory for temporary files, which no other user may enter, and returns its path.
    ///
    /// - Parameters:
    ///   - name: The beginning of its name, by which a leftover directory is recognized.
    ///   - parent: The directory in which it is created. Anything other than an absolute path means `/tmp`.
    package static func makeTemporary(_ name: String, in parent: String?) throws(SystemCallError) -> String {
        let base = parent.flatMap { $0.isAbsolutePath ? $0 : nil } ?? "/tmp"
        var template = Array("\(base)/\(name)-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw SystemCallError("mkdtemp", number: errno, at: base) }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Sets the permissions of a file or of a directory.
    package static func setPermissions(_ permissions: UInt32, ofPath path: String) throws(SystemCallError) {
        _ = try SystemCall.run("chmod", at: path) { chmod(path, permissions) }
    }

    /// Removes an empty directory.
    package static func remove(path: String) throws(SystemCallError) {
        _ = try SystemCall.run("rmdir", at: path) { rmdir(path) }
    }

    /// Removes the files of a directory and the directory, as far as that is possible.
    package static func removeWithFiles(path: String) {
        guard let directory = try? Directory(path: path) else { return }
        for name in (try? directory.names()) ?? [] { _ = try? directory.remove(name) }
        try? remove(path: path)
    }

    /// Returns the system's record of the directory.
    package func status() throws(SystemCallError) -> FileStatus {
        var status = stat()
        _ = try SystemCall.run("fstat", at: path) { fstat(descriptor, &status) }
        return FileStatus(status)
    }

    /// Returns the names in the directory, in no order, without those of itself and its parent.
    package func names() throws(SystemCallError) -> [String] {
        var names: [String] = []
        try forEachName { name, _ in
            names.append(String(decoding: name, as: UTF8.self))
            return true
        }
        return names
    }

    /// Calls `take` with each name in the directory and the kind of its file, or nil if the file system does not list
    /// it, in no order, until it returns false. Leaves out the directory itself and its parent.
    ///
    /// - Throws: Also if the listing fails in the middle: a part of the names never counts as all of them.
    package func forEachName(
        _ take: (_ name: UnsafeRawBufferPointer, _ kind: FileKind?) -> Bool
    ) throws(SystemCallError) {
        // The listing uses a new descriptor: it moves the read position, which a duplicate of the descriptor would
        // share.
        let copy = try SystemCall.run("openat", at: path) {
            openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        }
        guard let stream = fdopendir(copy) else {
            let number = errno
            Glibc.close(copy)
            throw SystemCallError("fdopendir", number: number, at: path)
        }
        defer { closedir(stream) }
        while true {
            // `readdir` returns NULL at the end and for an error. Only errno distinguishes the two.
            errno = 0
            let entry = readdir(stream)
            let found = entry == nil ? errno : 0
            let number = FailPoint.failure(of: "readdir", at: path) ?? found
            guard number == 0 else { throw SystemCallError("readdir", number: number, at: path) }
            guard let entry else { return }
            let kind = FileKind(entryType: entry.pointee.d_type)
            let goesOn = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                let name = UnsafeRawBufferPointer(rebasing: bytes[..<(bytes.firstIndex(of: 0) ?? bytes.count)])
                return name.elementsEqual([0x2e]) || name.elementsEqual([0x2e, 0x2e]) || take(name, kind)
            }
            if !goesOn { return }
        }
    }

    /// Removes a name.
    ///
    /// - Returns: Whether it existed.
    @discardableResult
    package func remove(_ name: String) throws(SystemCallError) -> Bool {
        do throws(SystemCallError) {
            _ = try SystemCall.run("unlinkat", at: path + "/" + name) { unlinkat(descriptor, name, 0) }
            FileTrace.record(path + "/", .removed(name: name))
            return true
        } catch {
            guard error.isAbsent else { throw error }
            return false
        }
    }

    /// Returns the system's record of a file in the directory. A symbolic link is read itself, not its target.
    package func status(of name: UnsafePointer<CChar>) throws(SystemCallError) -> FileStatus {
        var status = stat()
        _ = try SystemCall.run("fstatat", at: path + "/" + String(cString: name)) {
            fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW)
        }
        return FileStatus(status)
    }

    /// Opens a file in the directory for reading: no symbolic link, and without waiting for the other end of a pipe.
    package func open(_ name: UnsafePointer<CChar>) throws(SystemCallError) -> OpenFile {
        let place = path + "/" + String(cString: name)
        let descriptor = try SystemCall.run("openat", at: place) {
            openat(self.descriptor, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)
        }
        return OpenFile(owning: descriptor, path: place)
    }

    /// Creates a symbolic link in the directory.
    ///
    /// - Returns: Whether it was created.
    package func link(_ name: UnsafePointer<CChar>, leadingTo target: UnsafePointer<CChar>) -> Bool {
        symlinkat(target, descriptor, name) == 0
    }

    /// Returns at most `count` bytes of the target of a symbolic link in the directory; nil if there is none.
    package func target(of name: UnsafePointer<CChar>, upTo count: Int) throws(SystemCallError) -> [UInt8]? {
        var bytes = [CChar](repeating: 0, count: count)
        do throws(SystemCallError) {
            let count = try SystemCall.run("readlinkat", at: path) { readlinkat(descriptor, name, &bytes, count) }
            return bytes[..<count].map(UInt8.init(bitPattern:))
        } catch {
            // A file that is no symbolic link gives EINVAL, and counts as no link.
            guard error.isAbsent || error.number == EINVAL else { throw error }
            return nil
        }
    }

    /// Removes a name that is given as bytes. A failure is ignored.
    package func remove(_ name: UnsafePointer<CChar>) {
        unlinkat(descriptor, name, 0)
    }

    /// Creates an empty file at a path if there is none. A failure is ignored.
    package static func mark(path: String) {
        let descriptor = Glibc.open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        if descriptor >= 0 { Glibc.close(descriptor) }
    }

    /// Renames a file in this directory, unless the new name is taken.
    ///
    /// - Returns: Whether the file has the new name; false when another one had it before.
    package func rename(_ name: String, toFree newName: String) throws(SystemCallError) -> Bool {
        guard try move(name, to: self, asFree: newName) else { return false }
        FileTrace.record(path + "/", .renamed(from: name, to: newName))
        return true
    }

    /// Moves a file to another directory of the same file system, unless its new name is taken there.
    ///
    /// Some file systems, such as some that are mounted through FUSE, cannot rename without replacing. There, the file
    /// gets its new name by a link, and the old name is removed afterwards. A process that is killed in between leaves
    /// both names.
    ///
    /// - Returns: Whether the file has the new name; false when another one had it before.
    /// - Throws: An error with ``SystemCallError/cannotTakeFreeName`` if the file system can do neither.
    package func move(
        _ name: UnsafePointer<CChar>, to target: Directory, asFree newName: UnsafePointer<CChar>
    ) throws(SystemCallError) -> Bool {
        var call = "renameat2"
        var result =
            FailPoint.failure(of: "renameat2", at: target.path).map { -$0 }
            ?? clinux_move_without_replacing(descriptor, name, target.descriptor, newName)
        if result == -EINVAL || result == -ENOSYS {
            call = "linkat"
            result =
                FailPoint.failure(of: "linkat", at: target.path).map { -$0 }
                ?? clinux_link(descriptor, name, target.descriptor, newName)
            if result == 0 {
                _ = try SystemCall.run("unlinkat", at: path) { unlinkat(descriptor, name, 0) }
            }
        }
        if result == -EEXIST { return false }
        guard result < 0 else { return true }
        var location = target.path + "/" + String(cString: newName)
        let error = SystemCallError(call, number: -result, at: location)
        guard error.cannotTakeFreeName else { throw error }
        if let kind = try? target.fileSystemKind() { location += " on \(kind)" }
        throw SystemCallError(call, number: -result, at: location)
    }

    /// Waits until the names in the directory are on the disk. Blocks.
    package func synchronizeNames() throws(SystemCallError) {
        _ = try SystemCall.run("fsync", at: path) { fsync(descriptor) }
        FileTrace.record(path + "/", .namesSynced)
    }
}
