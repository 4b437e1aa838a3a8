internal import CLinux
internal import Glibc

/// An open directory. Names are looked up in it, so it does not matter if somebody renames it or puts something else in
/// its place.
package final class Directory: Sendable {
    /// Where it was opened, for messages.
    package let path: String
    /// The system's number for it, valid as long as this object.
    package let descriptor: Int32

    /// Opens a directory. A symbolic link in the place of its last part is refused.
    package init(path: String) throws(SystemCallError) {
        descriptor = try SystemCall.run("open", at: path) {
            open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
        }
        self.path = path
    }

    deinit {
        Glibc.close(descriptor)
    }

    /// Makes a directory with the given permissions, whatever the process's mask is.
    ///
    /// - Returns: Whether it was made; false when something has that name already.
    package static func create(path: String, permissions: UInt32) throws(SystemCallError) -> Bool {
        do throws(SystemCallError) {
            _ = try SystemCall.run("mkdir", at: path) { mkdir(path, permissions) }
            return true
        } catch {
            guard error.isPresent else { throw error }
            return false
        }
    }

    /// Makes a directory that nobody else has or may enter, for what is needed for a while, and gives its path.
    ///
    /// - Parameters:
    ///   - name: What its name begins with, for whoever finds what was left behind.
    ///   - parent: Where it is made. What is no absolute path stands for the usual place, `/tmp`.
    package static func makeTemporary(_ name: String, in parent: String?) throws(SystemCallError) -> String {
        let base = parent.flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "/tmp"
        var template = Array("\(base)/\(name)-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw SystemCallError("mkdtemp", number: errno, at: base) }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Removes an empty directory.
    package static func remove(path: String) throws(SystemCallError) {
        _ = try SystemCall.run("rmdir", at: path) { rmdir(path) }
    }

    /// What the system knows of the directory.
    package func status() throws(SystemCallError) -> FileStatus {
        var status = stat()
        _ = try SystemCall.run("fstat", at: path) { fstat(descriptor, &status) }
        return FileStatus(status)
    }

    /// The names in the directory, in no order, without those of itself and its parent.
    package func names() throws(SystemCallError) -> [String] {
        // A descriptor of its own: reading moves a position that duplicates would share.
        let copy = try SystemCall.run("openat", at: path) {
            openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        }
        guard let stream = fdopendir(copy) else {
            let number = errno
            Glibc.close(copy)
            throw SystemCallError("fdopendir", number: number, at: path)
        }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    /// Removes a name.
    ///
    /// - Returns: Whether it was there.
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

    /// Gives a file another name in this directory, unless that one is taken.
    ///
    /// - Returns: Whether the file has the new name; false when another one had it before.
    package func rename(_ name: String, toFree newName: String) throws(SystemCallError) -> Bool {
        let result = clinux_rename_without_replacing(descriptor, name, newName)
        if result == -EEXIST { return false }
        if result < 0 { throw SystemCallError("renameat2", number: -result, at: path + "/" + newName) }
        FileTrace.record(path + "/", .renamed(from: name, to: newName))
        return true
    }

    /// Returns when the names in the directory are on the disk. Blocks.
    package func synchronizeNames() throws(SystemCallError) {
        _ = try SystemCall.run("fsync", at: path) { fsync(descriptor) }
        FileTrace.record(path + "/", .namesSynced)
    }
}
