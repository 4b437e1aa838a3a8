internal import Glibc
internal import Platform

extension Maildir {
    /// Moves a message to `cur`, marked as seen. Somebody else having moved it is no error.
    func keep(_ name: FileName) throws(SystemCallError) {
        try move(name.withoutInformation, from: name, to: cur, suffix: ":2,S")
    }

    /// Moves a file to `new` of a folder beside this one, which is made when it is missing.
    func setAside(_ name: FileName, in folder: SideFolder) throws(SystemCallError) {
        let side = path + "/" + folder.rawValue
        let target = try Maildir(path: side)
        // What tells a Maildir++ server that this is a folder (its file is empty).
        let flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
        let marker = Glibc.open(side + "/maildirfolder", flags, 0o600)
        if marker >= 0 { close(marker) }
        try move(name, from: name, to: target.new, suffix: "")
    }

    /// Moves a file of `new` to that of another Maildir.
    func giveBack(_ name: FileName, to maildir: Maildir) throws(SystemCallError) {
        try move(name, from: name, to: maildir.new, suffix: "")
    }

    /// Moves a file out of `new` under the first name that is free: nothing that stands there is ever replaced.
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
        throw SystemCallError("renameat2", number: EEXIST, at: location(of: name))
    }
}
