internal import Platform

/// The open folders of a Maildir: `new`, where messages arrive, `cur` for messages that were taken, and `tmp`, where
/// deliverers write before they move a message to `new`.
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

    /// Opens the folders. Missing ones are created, accessible to this user only.
    ///
    /// The Maildir itself may be a symbolic link, the folders in it may not. A link that belongs to a user other than
    /// this one and root is refused with `EACCES`.
    init(path: String) throws(SystemCallError) {
        self.path = path
        new = try Self.folder("new", of: path)
        cur = try Self.folder("cur", of: path)
        tmp = try Self.folder("tmp", of: path)
    }

    private static func folder(_ name: String, of path: String) throws(SystemCallError) -> Directory {
        do throws(SystemCallError) {
            return try open(path + "/" + name)
        } catch {
            guard error.isAbsent else { throw error }
        }
        try create(path)
        _ = try Directory.create(path: path + "/" + name, permissions: 0o700)
        return try open(path + "/" + name)
    }

    private static func open(_ path: String) throws(SystemCallError) -> Directory {
        switch try Directory.follow(path, lastIsLink: false) {
        case .found(let directory): return directory
        case .foreignLink: throw SystemCallError("openat", number: SystemCallError.Number.accessDenied, at: path)
        }
    }

    /// Creates a directory and its parents.
    private static func create(_ path: String) throws(SystemCallError) {
        do throws(SystemCallError) {
            _ = try Directory.create(path: path, permissions: 0o700)
        } catch {
            let parent = Directory.parts(of: path).directory
            guard error.isAbsent, parent != "/" else { throw error }
            try create(parent)
            _ = try Directory.create(path: path, permissions: 0o700)
        }
    }
}

extension Maildir {
    /// Moves a message to `cur`, marked as seen. A message that another process has moved is no error.
    func keep(_ name: FileName) throws(SystemCallError) {
        try move(name.withoutInformation, from: name, to: cur, suffix: ":2,S")
    }

    /// Moves a file to `new` of a folder beside this one, which is created if it is missing.
    ///
    /// Not inlined: inlining makes the compiler's optimizer fail an assertion (Swift 6.3).
    @inline(never)
    func setAside(_ name: FileName, in folder: SideFolder) throws(SystemCallError) {
        let side = path + "/" + folder.rawValue
        let target = try Maildir(path: side)
        // The empty file that marks a folder for Maildir++ servers.
        Directory.mark(path: side + "/maildirfolder")
        try move(name, from: name, to: target.new, suffix: "")
    }

    /// Moves a file of `new` to `new` of another Maildir.
    func giveBack(_ name: FileName, to maildir: Maildir) throws(SystemCallError) {
        try move(name, from: name, to: maildir.new, suffix: "")
    }

    /// Moves a file out of `new` under the first free name: no existing file is ever replaced.
    private func move(
        _ base: FileName, from name: FileName, to directory: Directory, suffix: String
    ) throws(SystemCallError) {
        for attempt in 0..<1000 {
            let target = base.adding(suffix, attempt: attempt)
            let isMoved = name.withCString { from in
                target.withCString { to in
                    Result { () throws(SystemCallError) in try new.move(from, to: directory, asFree: to) }
                }
            }
            do throws(SystemCallError) {
                if try isMoved.get() { return }
            } catch {
                if error.isAbsent { return }
                throw error
            }
        }
        throw SystemCallError("renameat2", number: SystemCallError.Number.exists, at: location(of: name))
    }
}

/// A folder beside the inbox, in the manner of Maildir++, for files that were not delivered.
package enum SideFolder: String, CaseIterable, Hashable, Sendable {
    /// Files that cannot be read as a message.
    case malformed = ".Malformed"
    /// Messages that are too large for the inbox.
    case oversized = ".Oversized"
    /// Messages that have ended the processes that read them.
    case poison = ".Poison"

    /// The folder as an operator names it.
    package var word: String {
        switch self {
        case .malformed: "malformed"
        case .oversized: "oversized"
        case .poison: "poison"
        }
    }
}
