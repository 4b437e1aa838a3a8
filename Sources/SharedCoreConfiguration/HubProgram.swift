#if ZMQ
    internal import CoreAPI
    internal import Platform

    /// Finds `sharedcore`, the program that starts a hub for an application. No setting and no variable names it.
    ///
    /// It runs with this user's rights, so it must be a regular file that belongs to the user or to root, and that
    /// others cannot write.
    struct HubProgram: Hashable, Sendable {
        /// The absolute path that the application names; nil to look for it.
        let named: String?
        /// The value of `PATH`.
        let searchPath: String

        private static let name = "sharedcore"

        /// Returns the absolute path of the program: the given one, else that beside this program, else the first in
        /// `PATH`. Empty and relative entries of `PATH`, which mean the working directory, are skipped. Blocks.
        ///
        /// - Throws: ``SharedCoreError/Code/forbidden`` when the first file of that name is another user's, others may
        ///   write it, or it is not a regular file; ``SharedCoreError/Code/unavailable``, with the places, when there
        ///   is none.
        func find() throws(SharedCoreError) -> String {
            let places = places
            for path in places {
                if try Self.isUsable(path) { return path }
            }
            throw SharedCoreError(
                .unavailable,
                "No hub serves, and there is no program to start one: \(places.joined(separator: ", ")). Install sharedcore, or "
                    + "name it as the program.", at: named ?? Self.name)
        }

        private var places: [String] {
            if let named { return [named] }
            let directories = searchPath.utf8.split(separator: UInt8(ascii: ":")).map { String(Substring($0)) }.filter(
                \.isAbsolutePath)
            return [try? OwnProgram.sibling(Self.name)].compactMap(\.self) + directories.map { "\($0)/\(Self.name)" }
        }

        /// Returns true if there is a program that may be started.
        private static func isUsable(_ path: String) throws(SharedCoreError) -> Bool {
            let problem: String
            do throws(SystemCallError) {
                switch try OpenFile.follow(path, lastIsLink: true) {
                case .found(let file):
                    switch try file.status().objection(owners: [FileStatus.currentUser, 0], forbidding: 0o022) {
                    case nil: return true
                    case .notRegular: problem = "is no regular file"
                    case .foreign(let owner): problem = "belongs to user \(owner)"
                    case .open(let permissions):
                        problem = "has mode \(String(permissions, radix: 8)), so that others may write it"
                    }
                case .foreignLink(let owner):
                    problem = "is reached by a symbolic link that belongs to user \(owner)"
                }
            } catch {
                if error.isAbsent || error.isNotDirectory { return false }
                throw SharedCoreError(error)
            }
            throw SharedCoreError(
                .forbidden,
                "The program that would start a hub \(problem); it must be a regular file of user \(FileStatus.currentUser) or "
                    + "of root that others may not write. Remove it, or name another one as the program.", at: path)
        }
    }
#endif
