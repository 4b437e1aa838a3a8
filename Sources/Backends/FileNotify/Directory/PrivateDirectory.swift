package import CoreAPI
package import Platform

/// A directory that its owner alone may use.
package enum PrivateDirectory {
    /// Opens the directory, and makes it with its parents when it is not there.
    ///
    /// - Throws: `invalidArgument` when the path cannot be that of a directory, `forbidden` when it is a symbolic link,
    ///   belongs to another user or is open to others.
    package static func open(_ path: String) throws(SharedCoreError) -> Directory {
        try GroupDirectory.secureDirectory(path, access: .participant)
    }

    /// Makes sure that a directory and its content were put there by this user or by root. Nothing is made; a path
    /// without a file passes.
    ///
    /// - Parameter names: The files that have to be theirs as well.
    /// - Throws: `forbidden` when the directory or one of the files belongs to another user, or others may write to the
    ///   directory.
    package static func requireTrusted(_ path: String, _ names: [String]) throws(SharedCoreError) {
        guard let directory = try status(of: path, following: true) else { return }
        let trusted = [FileStatus.currentUser, 0]
        func refuse(_ what: String, _ owner: UInt32, at place: String) -> SharedCoreError {
            SharedCoreError(
                .forbidden, "The \(what) belongs to user \(owner), and this is user \(FileStatus.currentUser).",
                at: place)
        }
        guard trusted.contains(directory.owner) else { throw refuse("directory", directory.owner, at: path) }
        guard directory.permissions & 0o022 == 0 else {
            throw SharedCoreError(
                .forbidden,
                "Others may write to the directory: its mode is \(String(directory.permissions, radix: 8)). Set it to 700.",
                at: path)
        }
        for name in names {
            let place = path + "/" + name
            guard let file = try status(of: place, following: false), !trusted.contains(file.owner) else { continue }
            throw refuse("file", file.owner, at: place)
        }
    }

    /// Returns the status of the file at a path; nil when there is none.
    private static func status(of path: String, following: Bool) throws(SharedCoreError) -> FileStatus? {
        do throws(SystemCallError) {
            return following ? try FileStatus(behindPath: path) : try FileStatus(ofPath: path)
        } catch {
            if error.isAbsent || error.isNotDirectory { return nil }
            throw SharedCoreError(error)
        }
    }
}
