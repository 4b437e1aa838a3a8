internal import Platform

/// The files of a group in a directory of its own.
struct GroupFiles: Sendable {
    let directory: String

    /// The content of a file at one moment.
    struct Content: Hashable, Sendable {
        let identity: FileStatus.Identity
        let modifiedSeconds: Int
        let modifiedNanoseconds: Int
        /// Nil for a directory, and for a file that has no content, such as a pipe.
        let bytes: [UInt8]?
    }

    /// Returns the content of every file and every directory by its path, including the group's directory.
    func contents() throws -> [String: Content] {
        var found: [String: Content] = [:]
        for (path, status) in try statuses() {
            let bytes =
                status.isRegularFile
                ? try OpenFile(path: path, .read).read(count: status.byteCount, at: 0) : nil
            found[path] = Content(
                identity: status.identity, modifiedSeconds: status.modifiedSeconds,
                modifiedNanoseconds: status.modifiedNanoseconds, bytes: bytes)
        }
        return found
    }

    /// Runs a closure while no file and no directory of the group may be written to. A process of the superuser can
    /// still write.
    func withoutWritePermission<Result>(_ body: () async throws -> Result) async throws -> Result {
        let former = try statuses()
        defer {
            for (path, status) in former { try? Directory.setPermissions(status.permissions, ofPath: path) }
        }
        for (path, status) in former { try Directory.setPermissions(status.permissions & ~0o222, ofPath: path) }
        return try await body()
    }

    private func statuses() throws -> [(path: String, status: FileStatus)] {
        var found: [(path: String, status: FileStatus)] = []
        var waiting = [directory]
        while let path = waiting.popLast() {
            let status = try FileStatus(ofPath: path)
            guard !status.isSymbolicLink else { continue }
            found.append((path, status))
            if status.isDirectory { waiting += try Directory(path: path).names().map { path + "/" + $0 } }
        }
        return found
    }
}
