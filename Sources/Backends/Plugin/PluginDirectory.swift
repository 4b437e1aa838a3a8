internal import CoreAPI
internal import Platform

/// Finds plugins. Their code acts as this user, so their directory and files must belong to this user or to root, and no other user
/// may write them.
enum PluginDirectory {
    private static let owners = [FileStatus.currentUser, 0]
    /// Writing by the group and by others.
    private static let forbidden: UInt32 = 0o022

    /// Opens a plugin; nil where there is none.
    ///
    /// - Throws: `forbidden`.
    static func open(_ path: String, _ name: String) throws(SharedCoreError) -> OpenFile? {
        guard try open(path) != nil else { return nil }
        let file = "\(path)/\(name)"
        guard let found = try found(file, { () throws(SystemCallError) in try OpenFile.follow(file, lastIsLink: true) })
        else { return nil }
        switch try status(found.status).objection(owners: owners, forbidding: forbidden) {
        case nil: return found
        case .notRegular: throw refused("is no regular file", file)
        case .foreign(let owner): throw refused("belongs to user \(owner)", file)
        case .open(let permissions): throw refused(openTo: permissions, file)
        }
    }

    /// Returns the names of the files in a directory; none where it is absent.
    ///
    /// - Throws: `forbidden`.
    static func files(in path: String) throws(SharedCoreError) -> [String] {
        guard let directory = try open(path) else { return [] }
        do throws(SystemCallError) { return try directory.names() } catch { throw SharedCoreError(error) }
    }

    private static func open(_ path: String) throws(SharedCoreError) -> Directory? {
        guard let directory = try found(path, { () throws(SystemCallError) in try Directory.follow(path) }) else {
            return nil
        }
        let status = try status(directory.status)
        guard owners.contains(status.owner) else { throw refused("belongs to user \(status.owner)", path) }
        let others = status.group == status.owner && status.owner != 0 ? forbidden & ~0o020 : forbidden
        guard status.permissions & others == 0 else { throw refused(openTo: status.permissions, path) }
        return directory
    }

    private static func found<Found>(
        _ path: String, _ follow: () throws(SystemCallError) -> Followed<Found>
    ) throws(SharedCoreError) -> Found? {
        let followed: Followed<Found>
        do throws(SystemCallError) {
            followed = try follow()
        } catch {
            guard !error.isAbsent else { return nil }
            throw SharedCoreError(error)
        }
        switch followed {
        case .found(let found): return found
        case .foreignLink(let owner): throw refused("is reached by a symbolic link of user \(owner)", path)
        }
    }

    private static func status(
        _ read: () throws(SystemCallError) -> FileStatus
    ) throws(SharedCoreError) -> FileStatus {
        do throws(SystemCallError) { return try read() } catch { throw SharedCoreError(error) }
    }

    private static func refused(openTo permissions: UInt32, _ path: String) -> SharedCoreError {
        refused("has mode \(String(permissions, radix: 8)), so that others may write it", path)
    }

    private static func refused(_ problem: String, _ path: String) -> SharedCoreError {
        SharedCoreError(
            .forbidden,
            "This \(problem), and its code would act as this user. Plugins and their directory belong to user "
                + "\(FileStatus.currentUser) or to root, and no other user may write them.", at: path)
    }
}
