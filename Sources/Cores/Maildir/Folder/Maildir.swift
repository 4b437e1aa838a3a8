internal import Platform

/// The open folders of a Maildir: `new`, where messages arrive, `cur`, where those are kept that were taken, and `tmp`,
/// where deliverers write before they move a message to `new`.
///
/// Every call blocks.
struct Maildir: Sendable {
    let path: String
    let new: Directory
    let cur: Directory
    let tmp: Directory

    init(path: String, new: Directory, cur: Directory, tmp: Directory) {
        self.path = path
        self.new = new
        self.cur = cur
        self.tmp = tmp
    }

    /// Opens the folders, and makes those that are missing, for this user alone.
    ///
    /// The Maildir itself may be a symbolic link, the folders in it may not.
    init(path: String) throws(SystemCallError) {
        self.path = path
        new = try Self.folder("new", of: path)
        cur = try Self.folder("cur", of: path)
        tmp = try Self.folder("tmp", of: path)
    }

    private static func folder(_ name: String, of path: String) throws(SystemCallError) -> Directory {
        do throws(SystemCallError) {
            return try Directory(path: path + "/" + name)
        } catch {
            guard error.isAbsent else { throw error }
        }
        try create(path)
        _ = try Directory.create(path: path + "/" + name, permissions: 0o700)
        return try Directory(path: path + "/" + name)
    }

    /// Makes a directory and those above it.
    private static func create(_ path: String) throws(SystemCallError) {
        do throws(SystemCallError) {
            _ = try Directory.create(path: path, permissions: 0o700)
        } catch {
            let parent = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ""
            guard error.isAbsent, !parent.isEmpty else { throw error }
            try create(parent)
            _ = try Directory.create(path: path, permissions: 0o700)
        }
    }
}
