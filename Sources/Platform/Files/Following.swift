internal import Glibc

/// The result of following a path.
package enum Followed<Found> {
    case found(Found)
    /// A symbolic link on the path belongs to neither this process's user nor root, and could lead anywhere.
    case foreignLink(owner: UInt32)
}

/// A path without symbolic links, as it was when it was followed.
package struct SettledPath {
    package let path: String
    /// The first directory on the path in which another user can replace the path's next entry; nil if there is none. Such
    /// a directory belongs to another user, or others may write to it and it is not sticky.
    package let changeable: (path: String, status: FileStatus)?

    /// Returns the path of a name in the directory.
    package func path(of name: String) -> String { (path == "/" ? "" : path) + "/" + name }
}

extension Directory {
    /// Opens a directory by its absolute path, part by part. Follows a symbolic link only if it belongs to this user or
    /// to root.
    ///
    /// - Parameters:
    ///   - permissions: The permissions of missing directories, which are created; nil creates none.
    ///   - lastIsLink: Whether to follow a link as the directory itself.
    package static func follow(
        _ path: String, making permissions: UInt32? = nil, lastIsLink: Bool = true
    ) throws(SystemCallError) -> Followed<Directory> {
        try Way.follow(path, making: permissions, lastIsLink: lastIsLink) { parent, name throws(SystemCallError) in
            let descriptor = try SystemCall.run("openat", at: path) {
                openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
            }
            return Directory(owning: descriptor, path: path)
        }
    }

    /// Follows the absolute path of a directory, with the same rule for links as ``follow(_:making:lastIsLink:)``, and
    /// returns it without links: for calls that take a path, such as those that bind and connect a socket. Missing
    /// parts are returned as given.
    package static func settle(_ path: String) throws(SystemCallError) -> Followed<SettledPath> {
        try Way.settle(path)
    }
}

extension OpenFile {
    /// Opens a file for reading, with the same rule for links as ``Directory/follow(_:making:)``. Does not wait for the
    /// writer of a FIFO.
    ///
    /// - Parameter lastIsLink: Whether to follow a link as the file itself.
    package static func follow(
        _ path: String, lastIsLink: Bool = false
    ) throws(SystemCallError) -> Followed<OpenFile> {
        try Way.follow(path, lastIsLink: lastIsLink) { parent, name throws(SystemCallError) in
            let descriptor = try SystemCall.run("openat", at: path) {
                openat(parent, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
            }
            return OpenFile(owning: descriptor, path: path)
        }
    }
}

/// Walks along a path.
private enum Way {
    /// Opens a place in the file system without reading it: O_PATH, which Swift does not import.
    private static let placeOnly: Int32 = 0o10000000
    /// The number of links that the kernel follows on one path.
    private static let linkLimit = 40

    /// Walks along a path, from the working directory if it does not begin with a slash, and opens its last part with
    /// `open`.
    static func follow<Found>(
        _ path: String, making permissions: UInt32? = nil, lastIsLink: Bool = true,
        _ open: (_ parent: Int32, _ name: String) throws(SystemCallError) -> Found
    ) throws(SystemCallError) -> Followed<Found> {
        var place = try Place(path.isAbsolutePath ? "/" : ".", at: path)
        var parts = Array(path.pathParts.reversed())
        var linkCount = 0
        while let part = parts.popLast() {
            if parts.isEmpty, !lastIsLink { return .found(try open(place.descriptor, part)) }
            let next: Place
            do throws(SystemCallError) {
                next = try Place(part, in: place, at: path)
            } catch {
                guard error.isAbsent, let permissions else { throw error }
                try place.make(part, permissions, at: path)
                parts.append(part)
                continue
            }
            let status = try next.status(at: path)
            guard status.isSymbolicLink else {
                if parts.isEmpty { return .found(try open(place.descriptor, part)) }
                place = next
                continue
            }
            guard status.owner == FileStatus.currentUser || status.owner == 0 else {
                return .foreignLink(owner: status.owner)
            }
            linkCount += 1
            guard linkCount <= linkLimit else { throw SystemCallError("openat", number: ELOOP, at: path) }
            let target = try next.target(at: path)
            if target.isAbsolutePath { place = try Place("/", at: path) }
            parts += target.pathParts.reversed()
        }
        return .found(try open(place.descriptor, "."))
    }

    static func settle(_ path: String) throws(SystemCallError) -> Followed<SettledPath> {
        guard path.isAbsolutePath else { throw SystemCallError("openat", number: EINVAL, at: path) }
        let root = try Place("/", at: path)
        var way = [(name: "", place: root, status: try root.status(at: path))]
        // The owner of the root directory can replace every part. In a user namespace without root, the owner is no
        // known user.
        let trusted = [FileStatus.currentUser, 0, way[0].status.owner]
        var parts = Array(path.pathParts.reversed())
        var missing: [String] = []
        var linkCount = 0
        while let part = parts.popLast() {
            if part == "." { continue }
            if part == ".." {
                if way.count > 1 { way.removeLast() }
                continue
            }
            let next: Place
            do throws(SystemCallError) {
                next = try Place(part, in: way[way.count - 1].place, at: path)
            } catch {
                guard error.isAbsent || error.isNotDirectory else { throw error }
                missing = [part] + parts.reversed()
                break
            }
            let status = try next.status(at: path)
            guard status.isSymbolicLink else {
                way.append((part, next, status))
                continue
            }
            guard status.owner == FileStatus.currentUser || status.owner == 0 else {
                return .foreignLink(owner: status.owner)
            }
            linkCount += 1
            guard linkCount <= linkLimit else { throw SystemCallError("openat", number: ELOOP, at: path) }
            let target = try next.target(at: path)
            if target.isAbsolutePath { way.removeSubrange(1...) }
            parts += target.pathParts.reversed()
        }
        let names = way.dropFirst().map(\.name)
        let changeable = way.firstIndex { $0.status.isDirectory && $0.status.isChangeable(byOthersThan: trusted) }
        return .found(
            SettledPath(
                path: "/" + (names + missing).joined(separator: "/"),
                changeable: changeable.map { ("/" + names[..<$0].joined(separator: "/"), way[$0].status) }))
    }

    /// An open part of a path: a directory, a link, or something else.
    private final class Place {
        let descriptor: Int32

        init(_ name: String, in parent: Place? = nil, at path: String) throws(SystemCallError) {
            descriptor = try SystemCall.run("openat", at: path) {
                openat(parent?.descriptor ?? AT_FDCWD, name, Way.placeOnly | O_NOFOLLOW | O_CLOEXEC)
            }
        }

        deinit {
            close(descriptor)
        }

        func status(at path: String) throws(SystemCallError) -> FileStatus {
            var status = stat()
            _ = try SystemCall.run("fstat", at: path) { fstat(descriptor, &status) }
            return FileStatus(status)
        }

        func target(at path: String) throws(SystemCallError) -> String {
            var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
            let count = try SystemCall.run("readlinkat", at: path) { readlinkat(descriptor, "", &buffer, buffer.count) }
            return String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }

        /// Creates a directory, and syncs its name: a loss of power would otherwise lose its content with its name.
        func make(_ name: String, _ permissions: UInt32, at path: String) throws(SystemCallError) {
            do throws(SystemCallError) {
                _ = try SystemCall.run("mkdir", at: path) { mkdirat(descriptor, name, permissions) }
            } catch {
                guard error.isPresent else { throw error }
                return
            }
            try synchronizeNames(at: path)
        }

        /// Syncs the names in the directory to the disk. Leaves that to the kernel if the directory may not be read.
        private func synchronizeNames(at path: String) throws(SystemCallError) {
            let readable: Int32
            do throws(SystemCallError) {
                readable = try SystemCall.run("open", at: path) {
                    openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
                }
            } catch {
                guard error.number == EACCES else { throw error }
                return
            }
            defer { close(readable) }
            _ = try SystemCall.run("fsync", at: path) { fsync(readable) }
        }
    }
}

extension FileStatus {
    /// Returns whether users other than the trusted ones may replace an entry of the directory.
    fileprivate func isChangeable(byOthersThan trusted: [UInt32]) -> Bool {
        guard trusted.contains(owner) else { return true }
        // If each user has a group of the same number, its members are that user and those that root adds.
        let others: UInt32 = group == owner && owner != 0 ? 0o002 : 0o022
        let isSticky = permissions & 0o1000 != 0
        return !isSticky && permissions & others != 0
    }
}
