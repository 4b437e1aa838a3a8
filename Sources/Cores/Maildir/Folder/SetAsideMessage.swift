internal import Glibc
package import Platform

/// A message that a core has set aside, for an operator.
///
/// The folders are the list: nothing else says what is in them, so a mail program may be used as well.
package struct SetAsideMessage: Hashable, Sendable {
    package let folder: SideFolder
    /// The name of its file, for people.
    package let name: String
    package let byteCount: Int

    /// Lists what is set aside beside a Maildir, by folder and name; nothing where there is no Maildir.
    ///
    /// It blocks.
    package static func all(beside path: String) throws(SystemCallError) -> [SetAsideMessage] {
        var all: [SetAsideMessage] = []
        for folder in SideFolder.allCases {
            guard let (new, names) = try messages(in: folder, of: path) else { continue }
            for name in names {
                var found = stat()
                guard name.withCString({ fstatat(new.descriptor, $0, &found, AT_SYMLINK_NOFOLLOW) }) == 0 else {
                    continue
                }
                all.append(SetAsideMessage(folder: folder, name: name.scalars, byteCount: Int(found.st_size)))
            }
        }
        return all
    }

    /// Moves what is in one of the folders back to the Maildir's `new`, so that it is read again. It blocks.
    ///
    /// - Returns: How many messages were moved.
    package static func retry(_ folder: SideFolder, of path: String) throws(SystemCallError) -> Int {
        guard let (_, names) = try messages(in: folder, of: path) else { return 0 }
        let maildir = try Maildir(path: path)
        let side = try Maildir(path: path + "/" + folder.rawValue)
        for name in names { try side.giveBack(name, to: maildir) }
        return names.count
    }

    private static func messages(
        in folder: SideFolder, of path: String
    ) throws(SystemCallError) -> (Directory, [FileName])? {
        do throws(SystemCallError) {
            let new = try Directory(path: path + "/" + folder.rawValue + "/new")
            var names: [FileName] = []
            try new.forEachName { bytes, _ in
                let name = FileName(Array(bytes))
                if !name.isHidden { names.append(name) }
                return true
            }
            return (new, names.sorted())
        } catch {
            guard error.isAbsent else { throw error }
            return nil
        }
    }
}
