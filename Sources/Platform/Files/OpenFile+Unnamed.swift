internal import CLinux
internal import Glibc

/// Files without a name, which leave nothing behind when their process ends: the kernel frees them with their last
/// descriptor.
extension OpenFile {
    /// Creates a file without a name in a directory, for reading and writing.
    ///
    /// - Parameter name: Its intended name, which is also used in messages.
    /// - Returns: The file; nil if the file system has no such files, as NFS and many in user space.
    package static func unnamed(_ name: String, in directory: Directory) throws(SystemCallError) -> OpenFile? {
        do throws(SystemCallError) {
            let descriptor = try SystemCall.negated("openat(O_TMPFILE)", at: directory.path) {
                clinux_open_unnamed(directory.descriptor)
            }
            let file = OpenFile(owning: descriptor, path: directory.path + "/" + name)
            file.trace { .madeUnnamed(file: $0) }
            return file
        } catch {
            // The errors of kernels and file systems that do not know the flag.
            guard [EOPNOTSUPP, EISDIR, EINVAL, ENOENT].contains(error.number) else { throw error }
            return nil
        }
    }

    /// Creates a file in memory, for reading and writing.
    ///
    /// - Parameter name: Its name in messages.
    static func inMemory(_ name: String) throws(SystemCallError) -> OpenFile {
        OpenFile(owning: try SystemCall.negated("memfd_create", at: name) { clinux_memory_file(name) }, path: name)
    }

    /// Creates a file in memory with a content that no process can change.
    ///
    /// - Parameter name: Its name in messages.
    package static func sealed(_ content: [UInt8], as name: String) throws(SystemCallError) -> OpenFile {
        let file = OpenFile(
            owning: try SystemCall.negated("memfd_create", at: name) { clinux_sealable_memory_file(name) }, path: name)
        try file.write(content, at: 0)
        try SystemCall.negated("fcntl(F_ADD_SEALS)", at: name) { clinux_seal(file.descriptor) }
        return file
    }

    /// True for a sealed file in memory: no process can change its content.
    package var isSealed: Bool { clinux_is_sealed(descriptor) == 1 }

    /// Gives an unnamed file a name in a directory, unless the name is taken.
    ///
    /// - Returns: Whether the file has the name; false if another file had it before.
    package func link(as name: String, in directory: Directory) throws(SystemCallError) -> Bool {
        do throws(SystemCallError) {
            try SystemCall.negated("linkat", at: directory.path + "/" + name) {
                clinux_name_file(descriptor, directory.descriptor, name)
            }
        } catch {
            guard error.isPresent else { throw error }
            return false
        }
        trace { .linked(name: name, file: $0) }
        return true
    }
}
