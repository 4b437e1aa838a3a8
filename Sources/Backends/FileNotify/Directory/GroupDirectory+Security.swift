internal import CoreAPI
internal import Platform
internal import Replica

extension GroupDirectory {
    /// Opens a directory that only its owner may use. Creates it and its parents if it is missing. A reader may open a
    /// directory of any user that lets it read, as long as only the owner may write there.
    ///
    /// - Throws: `invalidArgument` when the path cannot be that of a directory, `forbidden` when it is a symbolic link,
    ///   belongs to another user or is open to others.
    static func secureDirectory(
        _ given: String, access: FileGroupOptions.Access
    ) throws(SharedCoreError) -> Directory {
        guard given.isAbsolutePath, !given.utf8.contains(0) else {
            throw SharedCoreError(
                .invalidArgument, "The directory of a group is given by its absolute path.", at: given)
        }
        let path = withoutEnding(given)
        let found = try wrapping(access, path) { () throws(SystemCallError) -> FileStatus? in
            do throws(SystemCallError) {
                return try FileStatus(ofPath: path)
            } catch {
                guard error.isAbsent, access == .participant else { throw error }
                return nil
            }
        }
        if found?.isSymbolicLink == true {
            throw SharedCoreError(
                .forbidden, "The directory of a group cannot be a symbolic link. Give the path that it leads to.",
                at: path)
        }
        guard found?.isDirectory ?? true else {
            throw SharedCoreError(.invalidArgument, "The path exists and is not a directory.", at: path)
        }
        let directory = try follow(path, access)
        let status = try SharedCoreError.wrapping { () throws(SystemCallError) in try directory.status() }
        if access == .readOnly {
            guard status.permissions & 0o022 == 0 else {
                throw SharedCoreError(
                    .forbidden,
                    "Others than its owner may write to the directory: its mode is "
                        + "\(String(status.permissions, radix: 8)). Set it to 700.",
                    at: path)
            }
            return directory
        }
        guard status.owner == FileStatus.currentUser else {
            throw SharedCoreError(
                .forbidden,
                "The directory belongs to user \(status.owner), and this is user \(FileStatus.currentUser).", at: path)
        }
        guard status.permissions & 0o077 == 0 else {
            throw SharedCoreError(
                .forbidden,
                "The directory is open to others: its mode is \(String(status.permissions, radix: 8)). "
                    + "Set it to 700.",
                at: path)
        }
        return directory
    }

    /// Returns the path without trailing slashes, with which the kernel would follow a symbolic link.
    private static func withoutEnding(_ path: String) -> String {
        var bytes = path.utf8[...]
        while bytes.count > 1, bytes.last == UInt8(ascii: "/") || bytes.suffix(2).elementsEqual("/.".utf8) {
            bytes.removeLast()
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Runs `body`. A reader creates nothing, so for a reader a missing group is one that no participant has opened
    /// yet.
    static func wrapping<Value>(
        _ access: FileGroupOptions.Access, _ path: String, _ body: () throws(SystemCallError) -> Value
    ) throws(SharedCoreError) -> Value {
        do throws(SystemCallError) {
            return try body()
        } catch {
            if access == .readOnly, error.isAbsent { throw .unopened(path) }
            if error.isNotDirectory {
                throw SharedCoreError(
                    .invalidArgument, "A part of the path is not a directory.", at: path,
                    cause: "\(error.call): \(error.text)")
            }
            throw SharedCoreError(error)
        }
    }

    /// Opens the directory. For a participant, creates it and its parents if it is missing.
    private static func follow(
        _ path: String, _ access: FileGroupOptions.Access
    ) throws(SharedCoreError) -> Directory {
        let following = try wrapping(access, path) { () throws(SystemCallError) in
            try Directory.follow(path, making: access == .participant ? 0o700 : nil)
        }
        switch following {
        case .found(let directory): return directory
        case .foreignLink(let owner):
            throw SharedCoreError(
                .forbidden,
                "A symbolic link on the path belongs to user \(owner), who could redirect it at any time; expected is root or "
                    + "user \(FileStatus.currentUser). Give a path without it.",
                at: path)
        }
    }
}
