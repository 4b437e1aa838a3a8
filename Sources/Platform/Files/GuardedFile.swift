package import CoreAPI

/// Reads key files, which must belong to this user alone.
package enum GuardedFile {
    private static let maximumByteCount = 1 << 20

    /// Reads a file, at most its first MiB.
    ///
    /// - Parameters:
    ///   - bits: The permissions that the file's mode may not have.
    ///   - what: The content of the file, as the beginning of a sentence.
    ///   - right: The correct mode, for the message.
    /// - Throws: ``SharedCoreError/Code/forbidden`` when the file belongs to another user, its mode has one of `bits`,
    ///   it is a symbolic link, or a link of another user is on the path; ``SharedCoreError/Code/invalidArgument`` when
    ///   it is missing or is no regular file.
    package static func read(
        _ path: String, forbidding bits: UInt32, _ what: String, right: String
    ) throws(SharedCoreError) -> [UInt8] {
        let file: OpenFile
        switch try wrapping(path, { () throws(SystemCallError) in try OpenFile.follow(path) }) {
        case .found(let found): file = found
        case .foreignLink(let owner):
            throw SharedCoreError(
                .forbidden,
                "A symbolic link on the path belongs to user \(owner), who could redirect it; expected is root or user "
                    + "\(FileStatus.currentUser). Give a path without it.",
                at: path)
        }
        let (status, content) = try wrapping(path) { () throws(SystemCallError) in
            let status = try file.status()
            return (
                status, status.isRegularFile ? try file.read(count: min(status.byteCount, maximumByteCount), at: 0) : []
            )
        }
        switch status.objection(owners: [FileStatus.currentUser], forbidding: bits) {
        case nil: return content
        case .notRegular:
            throw SharedCoreError(.invalidArgument, "\(what) is kept in a regular file, this is none.", at: path)
        case .foreign(let owner):
            throw SharedCoreError(
                .forbidden,
                "\(what) is kept in a file of one's own. This one belongs to user \(owner), and this is user "
                    + "\(FileStatus.currentUser).", at: path)
        case .open(let permissions):
            throw SharedCoreError(
                .forbidden,
                "\(what) is kept from others: the file's mode is \(String(permissions, radix: 8)). Set it to \(right).",
                at: path)
        }
    }

    private static func wrapping<Value>(
        _ path: String, _ body: () throws(SystemCallError) -> Value
    ) throws(SharedCoreError) -> Value {
        do throws(SystemCallError) {
            return try body()
        } catch {
            if error.isAbsent { throw SharedCoreError(.invalidArgument, "There is no such file.", at: path) }
            if error.isNotDirectory {
                throw SharedCoreError(.forbidden, "A symbolic link is not followed to keys.", at: path)
            }
            throw SharedCoreError(error)
        }
    }
}
