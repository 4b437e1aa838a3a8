package import Coordination
internal import CoreAPI
package import Platform

/// A message that a core has set aside, for an operator.
///
/// The folders are the list: there is no other record of their content, so a mail program may be used as well.
package struct SetAsideMessage: Hashable, Sendable {
    package let folder: SideFolder
    /// The name of its file, for people.
    package let name: String
    package let byteCount: Int

    /// Lists the files that are set aside beside a Maildir, by folder and name; none if there is no Maildir.
    ///
    /// It blocks.
    package static func all(beside path: String) throws(SystemCallError) -> [SetAsideMessage] {
        var all: [SetAsideMessage] = []
        for folder in SideFolder.allCases {
            guard let (new, names) = try messages(in: folder, of: path) else { continue }
            for name in names {
                guard let found = name.withCString({ try? new.status(of: $0) }) else { continue }
                all.append(SetAsideMessage(folder: folder, name: name.scalars, byteCount: found.byteCount))
            }
        }
        return all
    }

    /// The Maildir with the files that are set aside in one of its folders, to be tried again.
    package struct Retry: Sendable {
        fileprivate let maildir: Maildir
        fileprivate let side: Maildir
        fileprivate let names: [FileName]
        /// The call-id that each message was refused under, as far as one can be read.
        package let callIDs: [CallID?]

        /// Returns the name of a message's file, for people.
        package func name(of index: Int) -> String { names[index].scalars }

        /// Moves a message back to the Maildir's `new`, so that it is read again. It blocks.
        package func giveBack(_ index: Int) throws(SystemCallError) { try side.giveBack(names[index], to: maildir) }
    }

    /// Reads the files that are set aside in one of the folders, without those that may have ended processes; nil if
    /// there are none.
    ///
    /// It blocks.
    ///
    /// - Throws: `SystemCallError` if the folders cannot be used, ``SharedCoreError`` if the library that reads
    ///   messages cannot.
    package static func toRetry(_ folder: SideFolder, of path: String) throws -> Retry? {
        let reader = MailReader(library: try MimeLibrary.shared(), limits: MailLimits())
        guard let (_, names) = try messages(in: folder, of: path) else { return nil }
        let maildir = try Maildir(path: path)
        let side = try Maildir(path: path + "/" + folder.rawValue)
        let callIDs = try names.map { name throws(SystemCallError) -> CallID? in
            guard case .file(let file, let status) = try side.open(name) else { return nil }
            return reader.refusal(.tooLarge, of: file, byteCount: status.byteCount).callID
        }
        return Retry(maildir: maildir, side: side, names: names, callIDs: callIDs)
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
