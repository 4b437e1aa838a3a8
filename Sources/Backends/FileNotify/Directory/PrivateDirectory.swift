package import CoreAPI
package import Platform

/// Opens and checks directories that only their owner may use.
package enum PrivateDirectory {
    /// Opens the directory. Creates it and its parents if it is missing.
    ///
    /// - Throws: `invalidArgument` when the path cannot be that of a directory, `forbidden` when it is a symbolic link,
    ///   belongs to another user or is open to others.
    package static func open(_ path: String) throws(SharedCoreError) -> Directory {
        try GroupDirectory.secureDirectory(path, access: .participant)
    }

    /// Throws unless a directory and its content were created by this user or by root, and no other user can redirect
    /// its path. Creates nothing; a missing file passes.
    ///
    /// - Parameter names: The files in it to check as well.
    /// - Returns: The path without symbolic links.
    /// - Throws: `forbidden` when the directory or one of the files belongs to another user, and when others may write to
    ///   the directory. Also `forbidden` when the path contains a symbolic link of another user, or a directory in which
    ///   another user can replace an entry of the path.
    package static func trustedPath(_ path: String, _ names: [String]) throws(SharedCoreError) -> SettledPath {
        let settled = try settle(path)
        try requireTrusted(settled.path, names)
        try requireUnchangeable(settled, at: path)
        return settled
    }

    /// Follows the path of a directory, which need not be this user's, and returns it without symbolic links: for a
    /// socket that this user creates there, and to which no program of this project connects.
    ///
    /// - Throws: `forbidden` when a symbolic link of another user is on the path.
    package static func settle(_ path: String) throws(SharedCoreError) -> SettledPath {
        switch try SharedCoreError.wrapping({ () throws(SystemCallError) in try Directory.settle(path) }) {
        case .found(let settled): return settled
        case .foreignLink(let owner):
            throw SharedCoreError(
                .forbidden,
                "A symbolic link on the path belongs to user \(owner), who could redirect it at any time; expected is root or "
                    + "user \(FileStatus.currentUser). Give a path without it.",
                at: path)
        }
    }

    private static func requireUnchangeable(_ settled: SettledPath, at path: String) throws(SharedCoreError) {
        guard let (place, status) = settled.changeable else { return }
        let isOpen = [FileStatus.currentUser, 0].contains(status.owner)
        throw SharedCoreError(
            .forbidden,
            isOpen
                ? "Others may write to the directory \(place) on the path: its mode is "
                    + "\(String(status.permissions, radix: 8)). Choose another path, or withdraw that permission."
                : "The directory \(place) on the path belongs to user \(status.owner), who could put another in the place "
                    + "of what it has. Choose another path.",
            at: path)
    }

    /// Throws unless this user or root owns a directory and the given files in it, and no other user may write to the
    /// directory. Missing ones pass.
    ///
    /// - Parameter path: A path without symbolic links.
    private static func requireTrusted(_ path: String, _ names: [String]) throws(SharedCoreError) {
        guard let directory = try status(of: path) else { return }
        let trusted = [FileStatus.currentUser, 0]
        func refuse(_ what: String, _ owner: UInt32, at place: String) -> SharedCoreError {
            SharedCoreError(
                .forbidden, "The \(what) belongs to user \(owner); expected is root or user \(FileStatus.currentUser).",
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
            guard let file = try status(of: place), !trusted.contains(file.owner) else { continue }
            throw refuse("file", file.owner, at: place)
        }
    }

    /// Returns the status of the file at a path; nil when there is none.
    private static func status(of path: String) throws(SharedCoreError) -> FileStatus? {
        do throws(SystemCallError) {
            return try FileStatus(ofPath: path)
        } catch {
            if error.isAbsent || error.isNotDirectory { return nil }
            throw SharedCoreError(error)
        }
    }
}
